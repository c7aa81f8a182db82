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
      events;  // in order of application; the events that follow from them are made by follow()
  Error error;
  bool failed = false;       // the reply is `error`; events may still contain an audit record
  bool repeated = false;     // this is the recorded reply of an earlier request
  std::vector<JobKey> jobs;  // jobs acted on; empty if nothing had to change
  std::string text;
  Effects
      effects;  // messages without a change of state (heartbeat answers); effects() makes others
  std::optional<NodeId>
      reconcile;  // this node listed its attempts: all messages owed to it are sent again
};

}  // namespace ares::core
