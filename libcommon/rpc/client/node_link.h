// aresd's session with the controller: connects, authenticates and reconnects with back-off.
// Owned by aresd. Callbacks run on threads of the link, one at a time, and must not block for a
// long time.
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
  UserId server_uid{0};                // user of the controller
  std::chrono::milliseconds first_delay{
      100};  // between tries; doubles up to max_delay, with jitter
  std::chrono::milliseconds max_delay{2'000};
  std::chrono::milliseconds connect_timeout{10'000};
  std::size_t queue_messages = 65536;  // to be sent; if exceeded, the link reconnects
  std::size_t queue_bytes = 64u << 20;
};

class NodeLink {
 public:
  using OnMessage = std::function<void(api::NodeDown)>;
  // True: both sides are authenticated, send Register now. False: the session has ended; `why` is a
  // line for the log. Tries that fail before a session exists are also reported as false, if `why`
  // differs from the last one.
  using OnState = std::function<void(bool connected, const std::string& why)>;

  // Starts at once. invalid_argument: an address.
  static Result<std::unique_ptr<NodeLink>> open(NodeLinkOptions options, OnMessage on_message,
                                                OnState on_state);
  ~NodeLink();  // ends the session; no callback runs afterwards
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  // Any thread; keeps order. Dropped if there is no session: important state is repeated in the
  // next Register and Heartbeat.
  void send(api::NodeUp message);

 private:
  struct State;
  explicit NodeLink(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace ares::rpc
