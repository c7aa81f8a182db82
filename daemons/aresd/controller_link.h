// What the nodes of this aresd and the controller tell each other: between NodeHost, which speaks in values, and the session, which
// carries messages.
#pragma once

#include <memory>

#include "aresd/hosted_node.h"
#include "aresd/message_loss.h"
#include "aresd/node_host.h"
#include "aresd/script_messages.h"
#include "base/result.h"
#include "config/config.h"
#include "rpc/client/node_link.h"

namespace ares::aresd {

// Through `link`, which is null until the nodes are there. Both outlive the result, which is called on the host's thread.
HostedNode::Send sender(const std::unique_ptr<rpc::NodeLink>& link, MessageLoss& loss);
NodeHost::OnOutput output_sender(const std::unique_ptr<rpc::NodeLink>& link, MessageLoss& loss);

// Tells the controller what became of messages. Called on any thread.
ScriptMessages::Answer message_answer(const std::unique_ptr<rpc::NodeLink>& link);

// Begins the session. Host, loss and messages outlive it. invalid_argument: an address.
Result<std::unique_ptr<rpc::NodeLink>> open_link(const config::Config& config, NodeHost& host,
                                                 MessageLoss& loss, ScriptMessages& messages);

}  // namespace ares::aresd
