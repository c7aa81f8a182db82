// Everything that keeps a job from starting when the pass reaches it in one partition, with
// numbers. Pure; called once for each partition.
#pragma once

#include <optional>
#include <vector>

#include "core/sched/pass/pass_observer.h"
#include "core/sched/queue/job_classes.h"
#include "core/sched/why/explanation.h"

namespace ares::core::sched {

// Causes in the job's own record, independent of the time and the cluster.
std::vector<WaitCause> causes_of_record(const ClusterState& state, const Job& job);

struct WaitAnalysis {
  std::vector<WaitCause> causes;  // empty: it starts
  // When it would start if no other job came before it.
  std::optional<EarliestStart> earliest;
};

// `planned_starts`: those of jobs that come before it.
WaitAnalysis analyze_view(const ClusterState& state, const PassView& view,
                          const std::vector<DelayedStart>& planned_starts, Time now,
                          std::uint64_t units);

}  // namespace ares::core::sched
