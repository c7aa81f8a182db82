// decide(): what a command means in a given state. Pure: reads, never changes; every outcome is events, a reply, or both.
// Called by the engine only.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/command.h"
#include "model/effect.h"
#include "model/event.h"
#include "model/policy.h"
#include "model/state.h"

namespace ares::core {

struct Decision {
  std::vector<EventBody> events;  // applied in order
  Error error;
  bool failed = false;            // the caller is told `error`; events may still hold an audit row
  std::vector<JobKey> jobs;       // acted on
  std::string text;
  Effects effects;                // owed without a change of state (an answer to a heartbeat); those of events come from effects()
};

// `now` is not before state.now. Fences and lsn are given by the engine as it applies.
Decision decide(const ClusterState& state, const Policy& policy, const Command& command, Time now);

}  // namespace ares::core
