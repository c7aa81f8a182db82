// Trial: whether a job, were it another one, would start at its turn: asked of the same code as the pass asks, on what the pass
// has left. Lives for one explanation; not thread-safe.
#pragma once

#include <optional>

#include "core/cluster/time_limit.h"
#include "core/sched/pass/pass_observer.h"
#include "core/sched/queue/job_classes.h"

namespace ares::core::sched {

class WhatIf {
 public:
  // Which time limit it would get, were it started now.
  std::optional<Seconds> limit(const Job& job, const Partition& partition) const {
    return limit_at(state_, job, partition, now_);
  }
  // They must outlive it. `units`: as of Work.
  WhatIf(const ClusterState& state, const Policy& policy, Time now, std::uint64_t units)
      : state_(state), policy_(policy), now_(now), work_(units) {}

  // False also once the work is spent.
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
