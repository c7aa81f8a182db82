// Decision: the outcome of one command. A value; engine thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/engine/effect.h"
#include "model/engine/event.h"

namespace ares::core {

struct Decision {
  std::vector<EventBody>
      events;  // applied in order; what follows from them by itself comes from follow()
  Error error;
  bool failed = false;       // the caller is told `error`; events may still hold an audit row
  bool repeated = false;     // what a command was answered that was carried out before
  std::vector<JobKey> jobs;  // acted on; none where all was already as asked
  std::string text;
  Effects
      effects;  // owed without a change of state (an answer to a heartbeat); those of events come from effects()
  std::optional<NodeId>
      reconcile;  // this node listed what it has: everything owed to it goes out again
};

}  // namespace ares::core
