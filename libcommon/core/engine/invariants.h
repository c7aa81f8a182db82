// Invariants of every state, checked by property tests and by the simulation after each step.
// Pure and slow (reads all records); any thread.
#pragma once

#include <string>
#include <vector>

#include "model/engine/event.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// One sentence for each violation; empty = none. Assumes that no node shrank below its charges (a
// node that registers with less than before is drained, not emptied).
std::vector<std::string> check_invariants(const ClusterState& state);

// Conditions at preemptions and at starts of array tasks; `before` is the state before the event.
// They may become false later: a throttle can be lowered. Other events are not checked.
std::vector<std::string> check_step(const ClusterState& before, const Policy& policy,
                                    const Event& event);

}  // namespace ares::core
