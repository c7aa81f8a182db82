// Messages of a node's session, between the model (model/engine/node_message.h) and the API
// (node.proto). Pure functions; any thread. from_api accepts any input and returns a value or an
// error that names the field.
#pragma once

#include "base/result.h"
#include "model/engine/node_message.h"

namespace ares::api {
class NodeDown;
class NodeUp;
}  // namespace ares::api

namespace ares::proto {

void to_api(const FromNode& message, api::NodeUp* out);
Result<FromNode> from_api(const api::NodeUp& message);

// Node id, phase and usage of a LaunchSpec's share are not sent: the node does not need them.
void to_api(const ToNode& message, api::NodeDown* out);
Result<ToNode> from_api(const api::NodeDown& message);

}  // namespace ares::proto
