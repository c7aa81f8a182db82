// The server side of Call and Attach: listens, authenticates, checks seals, and passes requests and
// their authenticated users to handlers. Owned by aresctld. Handlers run on threads of the server,
// many at once, and must not block.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "rpc/server/handlers.h"

namespace ares::rpc {

struct ServerOptions {
  std::vector<std::string> listen;  // "unix:/path", "tcp:host:port"; port 0 = any free one
  std::string munge_socket;         // empty = munge's default
  // Users that may attach as nodes, besides root and the server's own user.
  std::vector<UserId> node_users;
  // Returns the name of a uid; empty = ask the name service. Called on a thread that may block.
  std::function<std::string(UserId)> user_name;

  std::size_t max_request_bytes = 8 << 20;  // larger ones are refused with a clear error
  std::size_t max_sessions = 16384;
  std::size_t max_sessions_per_user = 2048;
  std::chrono::seconds session_idle{600};
  std::size_t node_queue_messages =
      65536;  // to be sent to one node session; if exceeded, the session is closed
  std::size_t node_queue_bytes = 256u << 20;
  std::size_t authenticators = 2;  // threads that call munged
};

class Server {
 public:
  // If `attach` is null, nodes are refused. It must outlive the server.
  Server(ServerOptions options, CallHandler call, AttachHandler* attach);
  ~Server();  // stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // invalid_argument: bad address; already_exists: there is a listener already; unavailable: it
  // cannot be bound.
  Status start();

  // The addresses to connect to, with the ports that were chosen. Empty before start().
  std::vector<std::string> addresses() const;

  // Refuses new calls, ends those in flight as unavailable, detaches all nodes. No handler runs
  // afterwards.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ares::rpc
