// What keeps a job from starting at its turn in one partition: everything, with numbers. Pure; called once a turn.
#pragma once

#include <optional>
#include <vector>

#include "core/sched/pass/pass_observer.h"
#include "core/sched/queue/job_classes.h"
#include "core/sched/why/explanation.h"

namespace ares::core::sched {

// What the job's own record keeps back, whatever the time and the cluster.
std::vector<WaitCause> causes_of_record(const ClusterState& state, const Job& job);

struct WaitAnalysis {
  std::vector<WaitCause> causes;          // empty: it starts
  std::optional<EarliestStart> earliest;  // when it would start if nobody else came before it
};

// `promises`: of those that come before it.
WaitAnalysis analyze_view(const ClusterState& state, const PassView& view,
                          const std::vector<DelayedStart>& planned_starts, Time now,
                          std::uint64_t units);

}  // namespace ares::core::sched
