// What must hold of every state, whatever happened: checked by property tests and the simulation after each step.
// Pure and slow (looks at everything); any thread.
#pragma once

#include <string>
#include <vector>

#include "model/engine/event.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// One sentence for each violation; empty = all is well. Presumes that no node shrank below what is charged to it (a node that
// registers with less than before is drained, not emptied).
std::vector<std::string> check_invariants(const ClusterState& state);

// What must hold at the moment when jobs are preempted, or a task of an array begins: `before` is the state right before that event.
// Later it need not: an array's throttle may be lowered below what runs. Other events have nothing to break.
std::vector<std::string> check_step(const ClusterState& before, const Policy& policy,
                                    const Event& event);

}  // namespace ares::core
