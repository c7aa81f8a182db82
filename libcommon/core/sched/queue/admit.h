// admit(): whether a pending job may be considered at all now, before any node is looked at.
// Pure. Gives the first reason why not.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/accounts/limits/limit_use.h"
#include "core/sched/queue/queue_entry.h"
#include "model/engine/plan.h"

namespace ares::core::sched {

// Over a limit on minutes time alone lets more start: what running jobs may still use gets less, and what was used decays. How often
// that is looked at.
inline constexpr Duration kLimitRecheckPeriod = std::chrono::minutes(1);

struct Admission {
  std::optional<PendingInfo> refused;
  std::optional<Time> wake;  // when time alone will change the answer
};

// `starting` counts the array tasks that this pass has already started, by array.
using ArrayStarts = std::map<JobId, std::uint32_t>;

// Why the record itself keeps the job back, whatever time it is and whatever else happens: a hold, another job it waits for.
// Such jobs are not in the queue.
std::optional<PendingInfo> blocked_by_record(const Job& job);

// Whether nothing but what is free and promised will ever keep the entry from starting, as long as the job, the partitions and the
// records of accounting stay as they are: no time, no licence, no throttle, no limit on what others run as well, no other partition, no
// other task. Its record need not be looked at to find that out again. `rules`: by which amounts are billed.
bool is_static(const ClusterState& state, Enforce enforce, const Fairness& rules,
               const QueueEntry& entry);

// `use`: of that very state, and of what starts in this pass.
Admission admit(const ClusterState& state, LimitUse& use, const QueueEntry& entry,
                const ArrayStarts& starting, Time now);

// Every reason why not, for people who ask; empty exactly where admit() has none.
std::vector<Admission> all_refusals(const ClusterState& state, LimitUse& use,
                                    const QueueEntry& entry, const ArrayStarts& starting, Time now);

// How many tasks of the array may start now under its throttle.
std::uint32_t throttle_allowance(const ClusterState& state, const Job& job,
                                 const ArrayStarts& starting);

}  // namespace ares::core::sched
