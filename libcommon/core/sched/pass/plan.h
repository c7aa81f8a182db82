// plan(): which jobs should start now, and why the others wait. Pure: the same state, policy,
// budget and time give the same plan. Called by the scheduler thread on immutable snapshots, and by
// the simulator.
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

// Bound of one pass in work units, of which one is a job tested against a node, so that a replay
// stops at the same point; and the amount of detail beyond what starts.
struct Budget {
  std::uint64_t units = 10'000'000;
  // Number of waiting jobs without planned start that get an expected start.
  std::uint32_t estimates = 16;
  // Reasons contain numbers. If false, an Explainer provides them for single jobs.
  bool details = true;
};

// Plans the same cluster repeatedly and recomputes only what changed. Its plans do not depend on
// earlier calls: a new Planner would return the same. One thread at a time.
class Planner {
 public:
  Planner();
  ~Planner();
  // `observer`: observes the pass, which leaves out the observer's job (pass_observer.h).
  Plan plan(const ClusterState& state, const Policy& policy, Budget budget, Time now,
            sched::PassObserver* observer = nullptr);

 private:
  struct Memory;
  class Pass;
  std::unique_ptr<Memory> memory_;
};

// Plans with a new Planner.
Plan plan(const ClusterState& state, const Policy& policy, Budget budget, Time now);

}  // namespace ares::core
