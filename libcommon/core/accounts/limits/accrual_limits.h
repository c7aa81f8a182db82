// Limits on the waiting jobs that accrue age at a time (GrpJobsAccrue, MaxJobsAccrue, those of a
// QOS). Other jobs accrue none until there is room. Pure; the jobs' records keep when they began.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/accounts/limits/limit_use.h"
#include "model/engine/plan.h"

namespace ares::core {

// Whether such limits apply, cached by key. For one set of records and partitions; not thread-safe.
class AccrualLimits {
 public:
  AccrualLimits() = default;  // none
  AccrualLimits(const Accounting& records, const Partitions& partitions, const Policy& policy);

  // Whether any record has such a limit. The first call scans all records.
  bool any();
  bool apply_to(const JobSpec& spec);

 private:
  std::optional<bool> any_;
  Enforce enforce_ = Enforce::none;
  Accounting records_;
  Partitions partitions_;
  std::map<UsageKey, bool> known_;
};

// Since when the age of a waiting job counts; none: it does not accrue yet, or it could not run.
std::optional<Time> accruing_since(const Job& job, AccrualLimits& limits);

// The time of the last check: checks are at multiples of the period of priority computation.
Time accrual_time(const Policy& policy, Time now);

// Jobs that may begin to accrue, longest eligible first. Their age counts from the check before
// this one, or from when they became eligible if that is later. O(waiting jobs).
std::vector<Accruing> new_accruals(const ClusterState& state, const Policy& policy,
                                   AccrualLimits& limits, Time now, UsageTotals* kept = nullptr);

// Whether the job may begin to accrue in the current state; if so, it is counted in `use`.
bool may_start_to_accrue(const Job& job, const Accruing& wanted, AccrualLimits& limits,
                         LimitUse& use, Time now);

// Waiting jobs that come under such a limit only now; they keep the age that they have.
std::vector<Accruing> accruals_to_preserve(const ClusterState& state, AccrualLimits& before,
                                           AccrualLimits& after, Time now);

}  // namespace ares::core
