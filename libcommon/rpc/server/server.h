// The server's side of Call and Attach: listens, authenticates, checks every seal, and hands on
// what was said by whom. Owned by aresctld. Handlers run on threads of the server, many at once,
// and must not block.
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
  // May attach as nodes, besides root and the server's own uid.
  std::vector<UserId> node_users;
  // The name of a uid; empty = ask the name service. Called on a thread that may block.
  std::function<std::string(UserId)> user_name;

  std::size_t max_request_bytes = 8 << 20;  // larger ones are refused by a clear error
  std::size_t max_sessions = 16384;
  std::size_t max_sessions_per_user = 2048;
  std::chrono::seconds session_idle{600};
  std::size_t node_queue_messages =
      65536;  // waiting to be sent to one node session; beyond, it is closed
  std::size_t node_queue_bytes = 256u << 20;
  std::size_t authenticators = 2;  // threads that talk to munged
};

class Server {
 public:
  // `attach` may be null: then nodes are refused. It must outlive the server.
  Server(ServerOptions options, CallHandler call, AttachHandler* attach);
  ~Server();  // stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // invalid_argument: an address; already_exists: somebody listens there; unavailable: it cannot be
  // had.
  Status start();

  // Where it listens, with the ports chosen: what clients connect to. Empty before start().
  std::vector<std::string> addresses() const;

  // Refuses new calls, ends those in flight as unavailable, detaches all nodes. No handler runs
  // afterwards.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ares::rpc
