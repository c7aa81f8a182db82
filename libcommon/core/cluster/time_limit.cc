#include "core/cluster/time_limit.h"

#include <algorithm>

#include "core/cluster/reservation_access.h"
#include "core/state/timers.h"

namespace ares::core {

std::optional<Seconds> time_limit_of(const Job& job, const Partition& partition) {
  if (job.time_limit) {
    if (job.time_limit->count() == 0) return std::nullopt;  // the user requested no limit
    return job.time_limit;
  }
  return partition.default_time ? partition.default_time : partition.max_time;
}

std::optional<Seconds> limit_at(const ClusterState& state, const Job& job,
                                std::optional<Seconds> limit, Time now) {
  const auto within = limit_within_reservations(state, job.spec->reservations, limit, now);
  const auto left = time_left(job, now);
  return left ? std::min(within.value_or(*left), *left) : within;
}

}  // namespace ares::core
