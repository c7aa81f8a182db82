// Who gains age: where limits let only so many waiting jobs of somebody do so at a time (GrpJobsAccrue, MaxJobsAccrue and those of a
// QOS), the others have none until there is room. Pure; what was let in is in the jobs' records.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/accounts/limits/limit_use.h"
#include "model/engine/plan.h"

namespace ares::core {

// Whether such limits hold, remembered for everybody asked about. Of one set of records and partitions; not thread-safe.
class AccrualLimits {
 public:
  AccrualLimits() = default;  // none
  AccrualLimits(const Accounting& records, const Partitions& partitions, const Policy& policy);

  // Whether anybody at all is held to one. The first question looks at all records.
  bool any();
  bool apply_to(const JobSpec& spec);

 private:
  std::optional<bool> any_;
  Enforce enforce_ = Enforce::none;
  Accounting records_;
  Partitions partitions_;
  std::map<UsageKey, bool> known_;
};

// Since when the age of a waiting job counts; none: there was no room for it yet, or it could not run.
std::optional<Time> accruing_since(const Job& job, AccrualLimits& limits);

// When that is looked at: at multiples of the period in which priorities are computed.
Time accrual_time(const Policy& policy, Time now);

// Those for whom there is room, who could run first first. Their age counts from the moment before the last on, or from when they could
// run: what has room all the time loses nothing by being looked at from time to time. O(waiting jobs).
std::vector<Accruing> new_accruals(const ClusterState& state, const Policy& policy,
                                   AccrualLimits& limits, Time now, UsageTotals* kept = nullptr);

// Whether the job may be let in so, as things are.
bool may_start_to_accrue(const Job& job, const Accruing& wanted, AccrualLimits& limits,
                         LimitUse& use, Time now);

// Waiting jobs on which a limit comes to bear that was not there before: what they have gained is not taken from them.
std::vector<Accruing> accruals_to_preserve(const ClusterState& state, AccrualLimits& before,
                                           AccrualLimits& after, Time now);

}  // namespace ares::core
