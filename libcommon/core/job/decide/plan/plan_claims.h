// Resources taken by the accepted groups of a plan, and rejected groups that later ones relied on.
// Lives for the check of one plan, on the engine thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "model/engine/plan.h"
#include "model/job/job.h"

namespace ares::core {

// What the accepted groups took on top of the state. A group that fails half-way is rolled back.
class PlanClaims {
 public:
  bool claim_job(const JobKey& key) {
    if (!jobs_.insert(key).second) return false;
    new_jobs_.push_back(key);
    return true;
  }
  std::uint32_t& tasks(JobId array) { return tasks_[array]; }  // counted for the array's throttle
  struct Share {
    const NodeShare* share;
    const JobSpec* of;
    JobKey key{};
    const std::string* partition = nullptr;
  };
  const std::vector<Share>& on(NodeId node) { return shares_[node]; }
  // All of them live as long as the plan and the state.
  void claim_share(const JobKey& key, const NodeShare& share, const JobSpec& of,
                   const std::string& partition) {
    shares_[share.node].push_back({&share, &of, key, &partition});
    new_shares_.push_back(share.node);
  }

  // Given to starts of the plan, by their first node. A group that fails keeps them: there are others.
  std::set<std::uint16_t>& ports(NodeId node) { return ports_[node]; }

  void commit() {
    new_jobs_.clear();
    new_shares_.clear();
  }
  void roll_back() {
    for (NodeId node : new_shares_) shares_[node].pop_back();
    for (const JobKey& key : new_jobs_) {
      jobs_.erase(key);
      if (!key.task.is_none()) --tasks_[key.job];
    }
    commit();
  }

 private:
  std::map<NodeId, std::vector<Share>> shares_;
  std::map<JobId, std::uint32_t> tasks_;
  std::set<JobKey> jobs_;
  std::map<NodeId, std::set<std::uint16_t>> ports_;
  std::vector<NodeId> new_shares_;
  std::vector<JobKey> new_jobs_;
};

// A later group relied on a rejected group if both name the same node or job. It is rejected too.
class RejectedGroups {
 public:
  void add(const PlanGroup& group) {
    for (const Start& start : group.starts) {
      if (start.key.task.is_none()) jobs_.insert(start.key);
      for (const NodeShare& share : start.nodes) nodes_.insert(share.node);
    }
    for (const ProposedClaim& proposed : group.claims)
      for (const NodeShare& share : proposed.claim.nodes) nodes_.insert(share.node);
    if (group.resume)
      for (const auto& [node, version] : group.nodes) nodes_.insert(node);
  }
  bool touches(const PlanGroup& group) const {
    if (group.resume)
      return std::any_of(group.nodes.begin(), group.nodes.end(),
                         [&](const auto& node) { return nodes_.contains(node.first); });
    return std::any_of(group.claims.begin(), group.claims.end(),
                       [&](const ProposedClaim& proposed) {
                         return touches(proposed.key, proposed.claim.nodes);
                       }) ||
           std::any_of(group.starts.begin(), group.starts.end(),
                       [&](const Start& start) { return touches(start.key, start.nodes); });
  }

 private:
  bool touches(const JobKey& key, const NodeShares& nodes) const {
    return jobs_.contains(key) ||
           std::any_of(nodes.begin(), nodes.end(),
                       [&](const NodeShare& share) { return nodes_.contains(share.node); });
  }

  std::set<JobKey> jobs_;
  std::set<NodeId> nodes_;
};

}  // namespace ares::core
