// aresd's session with the controller: connects, authenticates, reconnects by itself with back-off.
// Owned by aresd. Callbacks run on threads of the link, never two at once, and must not block for
// long.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace ares::api {
class NodeDown;
class NodeUp;
}  // namespace ares::api

namespace ares::rpc {

struct NodeLinkOptions {
  std::vector<std::string> addresses;  // of the controllers, tried in turn
  std::string munge_socket;            // empty = munge's default
  UserId server_uid{0};                // whom the controller runs as
  std::chrono::milliseconds first_delay{
      100};  // between tries: doubles up to max_delay, with jitter
  std::chrono::milliseconds max_delay{2'000};
  std::chrono::milliseconds connect_timeout{10'000};
  std::size_t queue_messages = 65536;  // waiting to be sent; beyond, the link starts anew
  std::size_t queue_bytes = 64u << 20;
};

class NodeLink {
 public:
  using OnMessage = std::function<void(api::NodeDown)>;
  // True: both sides are authenticated, send Register now. False: the session is gone; `why` is a
  // line for the log. Tries that fail before a session exists are told as false too, when `why`
  // changes.
  using OnState = std::function<void(bool connected, const std::string& why)>;

  // Starts at once. invalid_argument for the addresses.
  static Result<std::unique_ptr<NodeLink>> open(NodeLinkOptions options, OnMessage on_message,
                                                OnState on_state);
  ~NodeLink();  // ends the session; no callback runs afterwards
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  // Any thread; keeps order. Dropped while there is no session: what matters is told again in the
  // next Register and Heartbeat.
  void send(api::NodeUp message);

 private:
  struct State;
  explicit NodeLink(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace ares::rpc
