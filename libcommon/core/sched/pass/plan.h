// plan(): what should start now, and why the rest waits. Pure: same state, policy, budget and time
// give the same plan. Called by the scheduler thread on immutable snapshots, and by the simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/time.h"
#include "model/engine/plan.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

namespace sched {
class PassObserver;
}

// Bound of one pass in work units (a job tested against a node is one), so that a replay stops at
// the same place, and how much it is to say beyond what starts.
struct Budget {
  std::uint64_t units = 10'000'000;
  std::uint32_t estimates =
      16;  // beyond the promised ones, so many waiting jobs are told when they may start
  bool details =
      true;  // numbers with each reason; else ask an Explainer for the few that are looked at
};

// Plans the same cluster again and again and redoes only what has changed. Whatever it has seen before, it plans what a new
// one would. One thread at a time.
class Planner {
 public:
  Planner();
  ~Planner();
  // `witness`: sees the pass come to its job, which is left out (witness.h).
  Plan plan(const ClusterState& state, const Policy& policy, Budget budget, Time now,
            sched::PassObserver* observer = nullptr);

 private:
  struct Memory;
  class Pass;
  std::unique_ptr<Memory> memory_;
};

// By a planner of its own.
Plan plan(const ClusterState& state, const Policy& policy, Budget budget, Time now);

}  // namespace ares::core
