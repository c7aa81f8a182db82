// The time limit of a job in a partition, and the one it would get if it started now. Pure; any thread.
#pragma once

#include <optional>

#include "base/time.h"
#include "model/cluster/node.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core {

// How long the job may run there: as modified, else the partition's default. nullopt = unlimited.
std::optional<Seconds> time_limit_of(const Job& job, const Partition& partition);

// How long the job may run if it starts now: a deadline shortens it, and the end of its reservation. nullopt = unlimited.
std::optional<Seconds> limit_at(const ClusterState& state, const Job& job,
                                const Partition& partition, Time now);

}  // namespace ares::core
