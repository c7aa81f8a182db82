// A message to a node that a state change requires. Idempotent: it may be sent any number of times.
// Made by effects() and reconcile() on the engine thread; sent by the outbox only after its lsn has committed.
#pragma once

#include <vector>

#include "base/ids.h"
#include "model/engine/node_message.h"

namespace ares {

struct Effect {
  NodeId node;
  Lsn after;  // must be committed before the message is sent
  ToNodeBody body;
};

using Effects = std::vector<Effect>;

}  // namespace ares
