// admit(): whether a pending job may be considered now, before any node is examined.
// Pure. Returns the first reason against it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/accounts/limits/limit_use.h"
#include "core/sched/queue/queue_entry.h"
#include "model/engine/plan.h"

namespace ares::core::sched {

// How often limits on minutes are checked again. More jobs may start as time passes, because the
// remaining use of running jobs shrinks and recorded use decays.
inline constexpr Duration kLimitRecheckPeriod = std::chrono::minutes(1);

struct Admission {
  std::optional<PendingInfo> refused;
  // When the result may change with time alone.
  std::optional<Time> wake;
};

// The number of tasks of each array that this pass has already started.
using ArrayStarts = std::map<JobId, std::uint32_t>;

// The reason in the record itself that blocks the job whatever the time and the cluster: a hold, or
// a dependency on another job. Such jobs are not in the queue.
std::optional<PendingInfo> blocked_by_record(const Job& job);

// Whether only free resources and planned starts can keep the entry from starting, as long as the
// job, the partitions and the accounting records stay the same. It then has no time condition,
// licence, throttle, limit shared with other jobs, second partition or further task, and a pass
// need not read its record again. `rules`: how amounts are billed.
bool is_static(const ClusterState& state, Enforce enforce, const Fairness& rules,
               const QueueEntry& entry);

// `use`: limit use of that state, including what this pass has started.
Admission admit(const ClusterState& state, LimitUse& use, const QueueEntry& entry,
                const ArrayStarts& starting, Time now);

// All reasons against the job, for users who request them; empty exactly if admit() has none.
std::vector<Admission> all_refusals(const ClusterState& state, LimitUse& use,
                                    const QueueEntry& entry, const ArrayStarts& starting, Time now);

// Number of tasks of the array that may start now under its throttle.
std::uint32_t throttle_allowance(const ClusterState& state, const Job& job,
                                 const ArrayStarts& starting);

}  // namespace ares::core::sched
