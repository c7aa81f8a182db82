// WhatIf: whether a changed job would start when the pass reaches it. Uses the same code as the
// pass, on the state that the pass has reached. Lives for one explanation; not thread-safe.
#pragma once

#include <optional>

#include "core/cluster/time_limit.h"
#include "core/sched/pass/pass_observer.h"
#include "core/sched/queue/job_classes.h"

namespace ares::core::sched {

class WhatIf {
 public:
  // The time limit that the job would get if it started now.
  std::optional<Seconds> limit(const Job& job, const Partition& partition) const {
    return limit_at(state_, job, partition, now_);
  }
  // All arguments must outlive the object. `units`: as for SearchBudget.
  WhatIf(const ClusterState& state, const Policy& policy, Time now, std::uint64_t units)
      : state_(state), policy_(policy), now_(now), work_(units) {}

  // Also false after the budget is exhausted.
  bool starts(const PassView& view, const Job& job);
  bool exhausted() const { return work_.exhausted(); }

 private:
  bool fits(const PassView& view, const JobClass& job_class, std::optional<Seconds> limit);

  const ClusterState& state_;
  const Policy& policy_;
  const Time now_;
  SearchBudget work_;
  JobClasses job_classes_;
};

}  // namespace ares::core::sched
