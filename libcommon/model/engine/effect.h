// What a change of state owes to nodes. Idempotent: the same effect may go out any number of times.
// Made by effects() and reconcile() on the engine thread; sent by the outbox only after its lsn has committed.
#pragma once

#include <vector>

#include "base/ids.h"
#include "model/engine/node_message.h"

namespace ares {

struct Effect {
  NodeId node;
  Lsn after;  // must be committed first
  ToNodeBody body;
};

using Effects = std::vector<Effect>;

}  // namespace ares
