// What must hold of every state, whatever happened: checked by property tests and the simulation after each step.
// Pure and slow (looks at everything); any thread.
#pragma once

#include <string>
#include <vector>

#include "model/state.h"

namespace ares::core {

// One sentence for each violation; empty = all is well. Presumes that no node shrank below what is charged to it (a node that
// registers with less than before is drained, not emptied).
std::vector<std::string> check_invariants(const ClusterState& state);

}  // namespace ares::core
