#include "core/sched/queue/shown_priority.h"

#include <algorithm>
#include <limits>

#include "core/sched/index/cluster_index.h"

namespace ares::core::sched {
namespace {

// 0 is left to held jobs, as in Slurm.
std::uint32_t not_held(std::int64_t value) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(value, 1, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::uint32_t shown_priority(const Rank& rank, const Job& job) {
  const bool ranked =
      rank.policy == QueuePolicy::priority || rank.policy == QueuePolicy::multifactor;
  return not_held(ranked ? -rank.value : std::int64_t{job.priority});
}

struct ShownPriorities::Ranks {
  Ranks(const ClusterState& state, const Policy& policy, Time now)
      : index(state), ranking(state, policy, index, now) {}
  ClusterIndex index;
  Ranking ranking;
};

ShownPriorities::ShownPriorities(const ClusterState& state, const Policy& policy, Time now)
    : state_(state), policy_(policy), now_(now) {}
ShownPriorities::~ShownPriorities() = default;

std::uint32_t ShownPriorities::of(const Job& job) {
  if (job.hold != Hold::none) return 0;
  if (job.allocation && job.allocation->priority > 0) return job.allocation->priority;
  if (Ranking::is_plain(policy_)) return not_held(job.priority);
  const std::string& name =
      job.allocation ? job.allocation->partition : job.spec->partitions.front();
  const Partition* partition = state_.partitions.find(name);
  if (!partition) return not_held(job.priority);
  if (!ranks_) ranks_ = std::make_unique<Ranks>(state_, policy_, now_);
  return shown_priority(ranks_->ranking.rank_of({&job, partition, 0}), job);
}

}  // namespace ares::core::sched
