// ShownPriorities: the priority of a job as listings show it. Held: 0, and only then. Waiting: as
// its first partition ranks it now. Otherwise: as it was ranked when it started.
// Used by one query on one thread; the state and the policy must outlive it.
#pragma once

#include <cstdint>
#include <memory>

#include "core/sched/queue/ranking.h"
#include "model/engine/state.h"

namespace ares::core::sched {

// Of a rank that was made for the job: computed where the policy computes one, else the job's own.
std::uint32_t shown_priority(const Rank& rank, const Job& job);

class ShownPriorities {
 public:
  ShownPriorities(const ClusterState& state, const Policy& policy, Time now);
  ~ShownPriorities();

  // The first call costs O(accounts + jobs) unless the policy is plain.
  std::uint32_t of(const Job& job);

 private:
  struct Ranks;
  const ClusterState& state_;
  const Policy& policy_;
  const Time now_;
  std::unique_ptr<Ranks> ranks_;
};

}  // namespace ares::core::sched
