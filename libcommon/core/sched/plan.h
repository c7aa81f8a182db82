// plan(): what should start now, and why the rest waits. Pure: same state, policy, budget and time
// give the same plan. Called by the scheduler thread on an immutable snapshot, and by the
// simulator.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "model/plan.h"
#include "model/policy.h"
#include "model/state.h"

namespace ares::core {

// Bound of one pass in work units (a job tested against a node is one), so that a replay stops at
// the same place.
struct Budget {
  std::uint64_t units = 10'000'000;
};

Plan plan(const ClusterState& state, const Policy& policy, Budget budget, Time now);

}  // namespace ares::core
