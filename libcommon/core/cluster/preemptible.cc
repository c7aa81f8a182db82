#include "core/cluster/preemptible.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "core/accounts/binding_qos.h"
#include "model/job/container_feature.h"

namespace ares::core {
namespace {

const Partition* partition_of(const ClusterState& state, const Job& job) {
  return job.allocation ? state.partitions.find(job.allocation->partition) : nullptr;
}

BindingQos binding_of(const ClusterState& state, const Job& job) {
  return binding_qos(state.accounting, qos_name(*job.spec), partition_of(state, job));
}

// Run time until a job may be preempted: of the partition's QOS, else its own QOS, else the site's.
Seconds exempt_for(const ClusterState& state, const Policy& policy, const Job& victim) {
  const BindingQos qos = binding_of(state, victim);
  for (const Qos* one : {qos.of_partition, qos.own})
    if (one && one->preempt_exempt) return *one->preempt_exempt;
  return policy.preemption.min_age;
}

// Whether jobs of the partition could preempt any others: by tier, QOS names or QOS priority.
bool find_lower(const ClusterState& state, const Policy& policy, const Partition& partition,
                bool by_name, bool by_priority) {
  bool some_name = false, some_may = false;
  state.accounting.for_each_from(
      {RecordKind::qos, {}, {}, {}}, [&](const RecordKey& key, const AccountingRecord& record) {
        if (key.kind != RecordKind::qos) return false;
        const Qos& qos = std::get<Qos>(record);
        some_name = some_name || !qos.preempts.empty();
        some_may = some_may || (qos.preempt_mode && *qos.preempt_mode != PreemptMode::off);
        return true;
      });
  bool any = false;
  state.partitions.for_each([&](const std::string& name, const Partition& other) {
    if (other.preempt_mode == PreemptMode::off && !some_may) return;
    any = any || other.tier < partition.tier ||
          (by_name && some_name && other.tier == partition.tier) ||
          (by_priority && policy.preemption.by_qos && name == partition.name);
  });
  return any;
}

// For partitions of the same tier.
bool is_below(const ClusterState& state, const Policy& policy, const JobSpec& job,
              const Partition& partition, const Job& victim, const Partition& its) {
  const Accounting& records = state.accounting;
  const Qos* mine = records.empty() ? nullptr : qos_of(records, job);
  const Qos* other = records.empty() ? nullptr : qos_of(records, *victim.spec);
  const auto preempts_some = [](const Qos* qos) { return qos && !qos->preempts.empty(); };
  if (preempts_some(mine) || preempts_some(other))
    return mine && other &&
           std::binary_search(mine->preempts.begin(), mine->preempts.end(), other->name);
  return policy.preemption.by_qos && its.name == partition.name &&
         qos_priority(state, policy, job) >=
             std::uint64_t{qos_priority(state, policy, *victim.spec)} + policy.preemption.min_gap;
}

}  // namespace

bool can_be_suspended(const ClusterState& state, const Job& job) {
  if (!job.allocation) return true;
  const NodeShares& nodes = job.allocation->nodes;
  return std::none_of(nodes.begin(), nodes.end(), [&](const NodeShare& share) {
    const Node* node = state.nodes.find(share.node);
    if (!node) return false;
    const std::vector<std::string>& features = node->inventory.features;
    return std::find(features.begin(), features.end(), kContainerFeature) != features.end();
  });
}

PreemptMode preempt_mode_of(const ClusterState& state, const Job& victim) {
  const Partition* partition = partition_of(state, victim);
  if (!partition) return PreemptMode::off;
  const Qos* qos = state.accounting.empty() ? nullptr : qos_of(state.accounting, *victim.spec);
  const PreemptMode mode = qos && qos->preempt_mode ? *qos->preempt_mode : partition->preempt_mode;
  const bool is_possible = mode != PreemptMode::suspend || can_be_suspended(state, victim);
  return is_possible ? mode : PreemptMode::off;
}

Seconds eviction_grace(const ClusterState& state, const Policy& policy, const Job& victim) {
  const Qos* qos = state.accounting.empty() ? nullptr : qos_of(state.accounting, *victim.spec);
  return qos && qos->grace ? *qos->grace : policy.preemption.grace;
}

bool releases_only_cpus(const ClusterState& state, const Job& victim) {
  return preempt_mode_of(state, victim) == PreemptMode::suspend;
}

std::uint32_t qos_priority(const ClusterState& state, const Policy& policy, const JobSpec& spec) {
  if (!state.accounting.empty()) {
    const Qos* qos = qos_of(state.accounting, spec);
    return qos ? qos->priority : 0;
  }
  if (!policy.fairness.value) return 0;
  const auto& known = policy.fairness.value->qos;
  const auto found = known.find(spec.qos);
  return found == known.end() ? 0 : found->second;
}

bool preempts(const ClusterState& state, const Policy& policy, const Partition& partition) {
  return find_lower(state, policy, partition, true, true);
}

bool preempts(const ClusterState& state, const Policy& policy, const Partition& partition,
              const JobSpec& spec) {
  const Qos* qos = state.accounting.empty() ? nullptr : qos_of(state.accounting, spec);
  const bool by_name = qos && !qos->preempts.empty();
  return find_lower(state, policy, partition, by_name, !by_name);
}

bool may_preempt(const Job& job, Time now) {
  return !job.preempted && !is_binding(job, now);
}

std::optional<Time> preemptible_from(const ClusterState& state, const Policy& policy,
                                     const JobSpec& job, const Partition& partition,
                                     const Job& victim) {
  if (victim.state != JobState::running || !victim.started || victim.ending) return std::nullopt;
  const Partition* its = partition_of(state, victim);
  const PreemptMode mode = preempt_mode_of(state, victim);
  if (!its || mode == PreemptMode::off || its->tier > partition.tier) return std::nullopt;
  if (its->tier == partition.tier &&
      (mode == PreemptMode::suspend || !is_below(state, policy, job, partition, victim, *its)))
    return std::nullopt;
  return *victim.started + victim.allocation->suspended + exempt_for(state, policy, victim);
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
  Ending ending{JobState::preempted, Reason::preempted, {}, false, Hold::none, false};
  ending.requeue = victim.spec->requeue && preempt_mode_of(state, victim) == PreemptMode::requeue;
  ending.preempted = Preempted{by, now, eviction_grace(state, policy, victim)};
  return ending;
}

}  // namespace ares::core
