// The time limit of a job in a partition, and the one it would get if it started now. Pure; any thread.
#pragma once

#include <optional>

#include "base/time.h"
#include "model/cluster/node.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core {

// The job's limit as requested or modified, else the partition's default. nullopt = unlimited.
std::optional<Seconds> time_limit_of(const Job& job, const Partition& partition);

// The limit that it gets if it starts now: `limit`, which it has in the partition, cut by its deadline
// and the end of its reservation. nullopt = unlimited.
std::optional<Seconds> limit_at(const ClusterState& state, const Job& job,
                                std::optional<Seconds> limit, Time now);
inline std::optional<Seconds> limit_at(const ClusterState& state, const Job& job,
                                       const Partition& partition, Time now) {
  return limit_at(state, job, time_limit_of(job, partition), now);
}

}  // namespace ares::core
