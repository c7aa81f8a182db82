// Whether what a job would get where it was placed is within its limits: whole nodes, CPUs beside GPUs or more nodes may be more than
// it asked for. Pure; one thread.
#pragma once

#include <optional>

#include "core/accounts/job_limits.h"
#include "core/sched/fit.h"
#include "core/sched/ranking.h"

namespace ares::core::sched {

std::optional<OverLimit> over_limit_there(const ClusterState& state, Enforce enforce,
                                          const QueueEntry& entry, const Placement& placement,
                                          const ClusterIndex& index);

}  // namespace ares::core::sched
