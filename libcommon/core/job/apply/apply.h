// apply(): the only function that changes ClusterState. Total and deterministic: no failure, no I/O, no clock.
// Runs live, in recovery, on a standby, in the simulator and in every view.
#pragma once

#include "model/engine/event.h"
#include "model/engine/state.h"

namespace ares::core {

// `event.lsn` is state.lsn + 1.
void apply(ClusterState& state, const Event& event);

}  // namespace ares::core
