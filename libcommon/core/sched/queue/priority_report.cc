#include "core/sched/queue/priority_report.h"

#include "core/sched/index/cluster_index.h"
#include "core/sched/queue/admit.h"
#include "core/sched/queue/ranking.h"

namespace ares::core::sched {

PriorityReport priority_report(const ClusterState& state, const Policy& policy, Time now) {
  PriorityReport out;
  const auto& rules = policy.fairness.value;
  if (Ranking::is_plain(policy)) return out;
  for (const fairness::FactorRow& row : fairness::factor_table())
    out.weights[static_cast<std::size_t>(row.factor)] = row.weight(*rules);
  state.partitions.for_each([&](const std::string& name, const Partition&) {
    out.any_multifactor = out.any_multifactor || rules->policy_of(name) == QueuePolicy::multifactor;
  });
  if (!out.any_multifactor) return out;
  ClusterIndex index(state);
  const Ranking ranking(state, policy, index, now);
  state.pending.for_each([&](const JobKey& key, Lsn) {
    const Job* job = state.jobs.find(key);
    if (!job || blocked_by_record(*job)) return;
    for (std::uint32_t i = 0; i < job->spec->partitions.size(); ++i) {
      const std::string& name = job->spec->partitions[i];
      const QueueEntry entry{job, state.partitions.find(name), i};
      if (!entry.partition || rules->policy_of(name) != QueuePolicy::multifactor) continue;
      PriorityLine line{job, entry.partition, 0, job->priority_set, ranking.priority_of(entry)};
      line.value = line.set ? job->priority : line.factors.value;
      out.lines.push_back(line);
    }
  });
  return out;
}

}  // namespace ares::core::sched
