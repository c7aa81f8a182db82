// Reboots that operators request: issued when the node is idle, over when it registers from a new boot.
// Pure functions that append events; engine thread.
#pragma once

#include <vector>

#include "model/cluster/node.h"
#include "model/engine/event.h"
#include "model/engine/node_message.h"
#include "model/policy/policy.h"

namespace ares::core {

// Issues a requested reboot once nothing is charged to the node. Sets the node down if it has not
// registered within `resume_timeout`; nothing can run there, since no job starts after the order.
void advance_reboot(const Policy& policy, const Node& node, Time now, std::vector<EventBody>& out);

// The node registers: its reboot is over if it is a later incarnation. True: the request says which
// administrative state follows.
bool reboot_ended(const Node& node, const Register& message, std::vector<EventBody>& out);

}  // namespace ares::core
