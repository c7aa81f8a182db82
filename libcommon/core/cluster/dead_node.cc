#include "core/cluster/dead_node.h"

#include <algorithm>

#include "base/hostlist.h"

namespace ares::core {
namespace {

bool is_awaited(const Job& job, const NodeShare& share) {
  return holds_resources(job.state) && share.phase != SharePhase::released &&
         share.phase != SharePhase::fenced;
}

bool is_charged(const Node& node, const AttemptKey& attempt) {
  return std::any_of(node.charges.begin(), node.charges.end(),
                     [&](const Charge& charge) { return charge.attempt == attempt; });
}

}  // namespace

std::vector<const Node*> lost_nodes_of(const ClusterState& state, const Job& job) {
  std::vector<const Node*> lost;
  if (!job.allocation) return lost;
  for (const NodeShare& share : job.allocation->nodes) {
    if (!is_awaited(job, share)) continue;
    const Node* node = state.nodes.find(share.node);
    if (node && node->contact == Contact::lost) lost.push_back(node);
  }
  return lost;
}

bool is_waited_for(const ClusterState& state, const Node& node) {
  if (node.contact != Contact::lost) return false;
  return std::any_of(node.charges.begin(), node.charges.end(), [&](const Charge& charge) {
    const Job* job = state.jobs.find(charge.attempt.job);
    if (!job || job->attempt != charge.attempt.attempt || !job->allocation) return false;
    const NodeShares& shares = job->allocation->nodes;
    return std::any_of(shares.begin(), shares.end(), [&](const NodeShare& share) {
      return share.node == node.id && is_awaited(*job, share);
    });
  });
}

const Node* may_still_run_on(const ClusterState& state, const Job& job) {
  if (!job.allocation || !job.started) return nullptr;
  for (const NodeShare& share : job.allocation->nodes) {
    if (share.phase != SharePhase::fenced || share.leased) continue;
    const Node* node = state.nodes.find(share.node);
    if (node && node->admin != AdminState::down && is_charged(*node, {job.key, job.attempt}))
      return node;
  }
  return nullptr;
}

std::string declare_dead_command(const std::vector<const Node*>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const Node* node : nodes) names.push_back(node->name);
  return "actl update node " + compress_hostlist(names) + " state=down reason=TEXT";
}

}  // namespace ares::core
