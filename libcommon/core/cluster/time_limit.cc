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
                                const Partition& partition, Time now) {
  const auto limit =
      limit_within_reservations(state, job.spec->reservations, time_limit_of(job, partition), now);
  const auto left = time_left(job, now);
  return left ? std::min(limit.value_or(*left), *left) : limit;
}

}  // namespace ares::core
