// What a step's daemon may do with a message of arespmixd, which the user controls. Pure; any thread.
#pragma once

#include "base/result.h"
#include "pmi/pmix_message.h"

namespace ares::pmi {

// Whether ranks and nodes are of the step, variables of an environment are those of PMIx, and texts are
// fit for a terminal. A daemon that gets anything else ends the step. `map` passed check().
// invalid_argument.
Status check(const PmixEvent& event, const TaskMap& map);

}  // namespace ares::pmi
