#include "core/cluster/preemptible.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "core/accounts/roster.h"

namespace ares::core {
namespace {

const Partition* partition_of(const ClusterState& state, const Job& job) {
  return job.allocation ? state.partitions.find(job.allocation->partition) : nullptr;
}

}  // namespace

bool lends_cpus(const ClusterState& state, const Job& victim) {
  const Partition* partition = partition_of(state, victim);
  return partition && partition->preempt_mode == PreemptMode::suspend;
}

std::uint32_t qos_priority(const ClusterState& state, const Policy& policy, const JobSpec& spec) {
  if (!state.accounting.empty()) {
    const Qos* qos = find_qos(state.accounting, spec.qos.empty() ? kNormalQos : spec.qos);
    return qos ? qos->priority : 0;
  }
  if (!policy.fairness.value) return 0;
  const auto& known = policy.fairness.value->qos;
  const auto found = known.find(spec.qos);
  return found == known.end() ? 0 : found->second;
}

bool preempts(const ClusterState& state, const Policy& policy, const Partition& partition) {
  bool any = false;
  state.partitions.for_each([&](const std::string& name, const Partition& other) {
    if (other.preempt_mode == PreemptMode::off) return;
    any =
        any || other.tier < partition.tier || (policy.preemption.by_qos && name == partition.name);
  });
  return any;
}

bool may_preempt(const Job& job, Time now) {
  return !job.preempted && !is_binding(job, now) && !waits_with_gang(job);
}

std::optional<Time> preemptible_from(const ClusterState& state, const Policy& policy,
                                     const JobSpec& job, const Partition& partition,
                                     const Job& victim) {
  if (victim.state != JobState::running || !victim.started || victim.ending) return std::nullopt;
  const Partition* its = partition_of(state, victim);
  if (!its || its->preempt_mode == PreemptMode::off) return std::nullopt;
  const auto by_qos = [&] {
    return policy.preemption.by_qos && its->name == partition.name &&
           qos_priority(state, policy, job) >=
               std::uint64_t{qos_priority(state, policy, *victim.spec)} + policy.preemption.min_gap;
  };
  if (its->tier >= partition.tier && !by_qos()) return std::nullopt;
  return *victim.started + victim.allocation->suspended + policy.preemption.min_age;
}

EvictionsLeft evictions_left(const ClusterState& state, const Policy& policy, UserId user,
                             Time now) {
  struct Window {
    Duration length;
    std::uint32_t most;
  };
  const std::array windows{Window{std::chrono::hours(1), policy.preemption.per_hour},
                           Window{std::chrono::hours(24), policy.preemption.per_day}};
  EvictionsLeft left{std::numeric_limits<std::uint32_t>::max(), std::nullopt};
  for (const Window& window : windows) {
    if (window.most == 0) continue;
    std::vector<Time> times;  // ascending
    state.evictions.for_each_from({now - window.length + Duration{1}, AttemptKey{}},
                                  [&](const EvictionKey& key, UserId whose) {
                                    if (whose == user) times.push_back(key.first);
                                    return true;
                                  });
    const auto used = static_cast<std::uint32_t>(times.size());
    const std::uint32_t here = window.most - std::min(window.most, used);
    std::optional<Time> more_at;
    if (!times.empty()) more_at = times.front() + window.length;
    if (here == left.count) left.more_at = std::max(left.more_at, more_at);
    if (here < left.count) left = {here, more_at};
  }
  return left;
}

Ending eviction_of(const ClusterState& state, const Policy& policy, const Job& victim,
                   const JobKey& by, Time now) {
  const Partition* partition = partition_of(state, victim);
  Ending ending{JobState::preempted, Reason::preempted, {}, false, Hold::none, false};
  ending.requeue =
      victim.spec->requeue && partition && partition->preempt_mode == PreemptMode::requeue;
  ending.preempted = Preempted{by, now, policy.preemption.grace};
  return ending;
}

}  // namespace ares::core
