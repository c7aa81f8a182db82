// apply(): the only function that changes ClusterState. Deterministic; no failures, I/O or clock.
// Runs live, in recovery, on a standby, in the simulator and in every view.
#pragma once

#include "model/engine/event.h"
#include "model/engine/state.h"

namespace ares::core {

// Precondition: `event.lsn` is state.lsn + 1.
void apply(ClusterState& state, const Event& event);

}  // namespace ares::core
