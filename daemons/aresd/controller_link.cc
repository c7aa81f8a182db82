#include "aresd/controller_link.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>
#include <vector>

#include "proto/convert.h"
#include "proto/convert_node.h"
#include "proto/gen/node.pb.h"

namespace ares::aresd {
namespace {

// What the controller tells of output. False: the message is of another kind.
bool take_output_message(const api::NodeDown& down, NodeHost& host) {
  if (down.has_welcome()) host.put(NodeHost::OutputTaken{down.welcome().takes_output()});
  if (!down.has_output_stored()) return false;
  const api::OutputStored& stored = down.output_stored();
  if (const auto attempt = proto::from_api(stored.attempt()))
    host.put(NodeHost::OutputStored{
        down.node(), {*attempt, Fence(stored.fence()), stored.size(), stored.ended()}});
  return true;
}

// What users tell scripts. False: the message is of another kind.
bool take_message(const api::NodeDown& down, ScriptMessages& messages) {
  if (!down.has_tell_script()) return false;
  const api::TellScript& tell = down.tell_script();
  if (const auto attempt = proto::from_api(tell.attempt()))
    messages.put({down.node(), *attempt, tell.id(), tell.line()});
  return true;
}

}  // namespace

HostedNode::Send sender(const std::unique_ptr<rpc::NodeLink>& link, MessageLoss& loss) {
  return [&link, &loss](const FromNode& message) {
    if (!link || loss.drops_next()) return;
    api::NodeUp up;
    proto::to_api(message, &up);
    link->send(std::move(up));
  };
}

NodeHost::OnOutput output_sender(const std::unique_ptr<rpc::NodeLink>& link, MessageLoss& loss) {
  return [&link, &loss](const std::string& node, std::uint64_t incarnation,
                        const node::OutputPart& part) {
    if (!link || loss.drops_next()) return;
    api::NodeUp up;
    up.set_node(node);
    up.set_incarnation(incarnation);
    api::OutputPart& output = *up.mutable_output();
    proto::to_api(part.attempt, output.mutable_attempt());
    output.set_fence(part.fence.value());
    output.set_offset(part.offset);
    output.set_data(part.data.data(), part.data.size());
    output.set_ended(part.ended);
    link->send(std::move(up));
  };
}

ScriptMessages::Answer message_answer(const std::unique_ptr<rpc::NodeLink>& link) {
  return [&link](const ScriptMessages::Message& message, const Status& told) {
    api::NodeUp up;
    up.set_node(message.node);
    api::ScriptTold& answer = *up.mutable_script_told();
    answer.set_id(message.id);
    if (!told) answer.set_why(told.error().message);
    link->send(std::move(up));
  };
}

Result<std::unique_ptr<rpc::NodeLink>> open_link(const config::Config& config, NodeHost& host,
                                                 MessageLoss& loss, ScriptMessages& messages) {
  rpc::NodeLinkOptions options;
  options.addresses = config.controller.connect.empty()
                          ? std::vector<std::string>{config.controller.listen.front()}
                          : config.controller.connect;
  options.munge_socket = config.auth.munge_socket;
  options.server_uid = config.controller.uid;
  return rpc::NodeLink::open(
      options,
      [&host, &loss, &messages](const api::NodeDown& down) {
        if (loss.drops_next() || take_output_message(down, host) || take_message(down, messages))
          return;
        Result<ToNode> message = proto::from_api(down);
        if (message)
          host.put(std::move(*message));
        else
          spdlog::warn("message from the controller ignored: {}", message.error().message);
      },
      [&host](bool connected, const std::string& why) {
        if (connected)
          spdlog::info("connected to the controller");
        else
          spdlog::warn("no connection to the controller: {}", why);
        if (connected)
          host.put(NodeHost::Connected{});
        else
          host.put(NodeHost::Disconnected{});
      });
}

}  // namespace ares::aresd
