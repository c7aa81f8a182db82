// Trial: whether a job, were it another one, would start at its turn: asked of the same code as the pass asks, on what the pass
// has left. Lives for one explanation; not thread-safe.
#pragma once

#include <optional>

#include "core/sched/pass/witness.h"
#include "core/sched/queue/shapes.h"

namespace ares::core::sched {

// How long the job may run if it starts now: a deadline shortens it, and the end of its reservation.
std::optional<Seconds> limit_at(const ClusterState& state, const Job& job,
                                const Partition& partition, Time now);

class Trial {
 public:
  // Which time limit it would get, were it started now.
  std::optional<Seconds> limit(const Job& job, const Partition& partition) const {
    return limit_at(state_, job, partition, now_);
  }
  // They must outlive it. `units`: as of Work.
  Trial(const ClusterState& state, const Policy& policy, Time now, std::uint64_t units)
      : state_(state), policy_(policy), now_(now), work_(units) {}

  // False also once the work is spent.
  bool starts(const Turn& turn, const Job& job);
  bool exhausted() const { return work_.exhausted(); }

 private:
  bool fits(const Turn& turn, const Shape& shape, std::optional<Seconds> limit);

  const ClusterState& state_;
  const Policy& policy_;
  const Time now_;
  Work work_;
  Shapes shapes_;
};

}  // namespace ares::core::sched
