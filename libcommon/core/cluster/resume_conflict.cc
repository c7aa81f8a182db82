#include "core/cluster/resume_conflict.h"

#include <algorithm>
#include <set>

#include "core/cluster/preemptible.h"
#include "model/job/gpu_part.h"

namespace ares::core {
namespace {

bool intersect(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](std::uint32_t cpu) {
    return std::find(b.begin(), b.end(), cpu) != b.end();
  });
}

std::string decimals(std::uint64_t thousandths) {
  return format_thousandths(static_cast<std::int64_t>(thousandths));
}

bool is_ending(const ClusterState& state, const Charge& charge) {
  const Job* job = state.jobs.find(charge.attempt.job);
  return job && job->attempt == charge.attempt.attempt && job->state == JobState::completing;
}

// Thousandths of CPUs of other jobs on one node: now, and after those that are ending have released theirs.
struct Others {
  const NodeShare& own;
  std::uint64_t now = 0, later = 0;
  bool clash = false;
  std::set<JobKey> by{};

  template <class Share>
  void count(const JobKey& key, const Share& share, bool stays) {
    if (share.cpus == 0) return;
    now += cpu_thousandths_of(share);
    later += stays ? cpu_thousandths_of(share) : 0;
    clash = clash || intersect(own.cpu_ids, share.cpu_ids);
    by.insert(key);
  }
  // A claim accepts any CPU ids, so only their number counts.
  void add_claim(const JobKey& key, std::uint64_t thousandths) {
    later += thousandths;
    by.insert(key);
  }
};

}  // namespace

std::optional<ResumeConflict> resume_conflict(const ClusterState& state, const Job& job, Time now,
                                              std::span<const PlannedShare> planned_shares) {
  for (const NodeShare& share : job.allocation->nodes) {
    if (share.phase == SharePhase::released || share.phase == SharePhase::fenced) continue;
    const Node* node = state.nodes.find(share.node);
    if (!node) continue;
    Others others{share};
    for (const Charge& charge : node->charges)
      others.count(charge.attempt.job, charge, !is_ending(state, charge));
    std::set<JobKey> starting;
    for (const PlannedShare& planned : planned_shares) {
      starting.insert(planned.key);
      if (planned.share->node == share.node) others.count(planned.key, *planned.share, true);
    }
    state.preemption_claims.for_each([&](const JobKey& key, Lsn) {
      const Job* claimant = state.jobs.find(key);
      if (!claimant || !is_binding(*claimant, now) || starting.contains(key)) return;
      for (const NodeShare& other : claimant->preemption_claim->nodes)
        if (other.node == share.node) others.add_claim(key, cpu_thousandths_of(other));
    });
    const std::uint64_t all = cpu_thousandths_of(node->inventory);
    const std::uint64_t most = std::max(others.now, others.later);
    if (!others.clash && most + cpu_thousandths_of(share) <= all) continue;
    ResumeConflict conflict{
        share.node, cpu_thousandths_of(share), 0, {others.by.begin(), others.by.end()}};
    conflict.free = all - std::min(all, most);
    return conflict;
  }
  return std::nullopt;
}

std::string resume_conflict_text(const ClusterState& state, const ResumeConflict& conflict) {
  constexpr std::size_t kNamed = 8;
  const Node* node = state.nodes.find(conflict.node);
  const std::string where = node ? " on node " + node->name : "";
  std::string text = conflict.free >= conflict.needed
                         ? "the very CPUs that it was given" + where + " are not free"
                         : decimals(conflict.free) + " of the " + decimals(conflict.needed) +
                               " CPUs that it needs" + where +
                               (conflict.free == kWholeCpu ? " is free" : " are free");
  for (std::size_t i = 0; i < conflict.by.size() && i < kNamed; ++i) {
    const JobKey& key = conflict.by[i];
    text += (i == 0 ? "; held by job " : ", ") + std::to_string(key.job.value()) +
            (key.task.is_none() ? "" : "_" + std::to_string(key.task.value));
  }
  if (conflict.by.size() > kNamed)
    text += " and " + std::to_string(conflict.by.size() - kNamed) + " more";
  return text;
}

}  // namespace ares::core
