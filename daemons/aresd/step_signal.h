// Passes a signal of the controller on to the step host of an attempt on this node. Does not wait for it;
// any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "model/engine/node_message.h"

namespace ares::aresd {

// `spool` is the node's. A step that is not there any more is no error.
Status signal_step(const std::string& spool, const SignalStep& message);

}  // namespace ares::aresd
