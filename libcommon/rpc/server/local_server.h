// The server's local socket: calls without gRPC, from the machine's own commands. One thread reads what all of them say;
// answers are written by whoever has them.
// Owned by the server; stop() from one thread. Private to rpc/.
#pragma once

#include <memory>

#include "base/result.h"
#include "rpc/server/call_desk.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

// A client that sends without taking its answers is not read from beyond these; who has more open or half sent is turned away.
struct LocalLimits {
  std::size_t connections = 8192;
  std::size_t connections_per_user = 2048;
  std::size_t calls_per_connection = 1024;
  std::size_t unsent_per_connection = 4u << 20;  // bytes of answers
  std::size_t half_sent_per_user = 128u << 20;   // bytes of requests
};

class LocalServer {
 public:
  explicit LocalServer(CallDesk desk, LocalLimits limits = {});
  ~LocalServer();  // stop()
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Listens on the call socket of a Unix address, for every user: who they are is munge's business. Before start().
  Status listen(const Address& address);
  Status start();
  // Calls in flight end as unavailable. No handler runs on its thread afterwards.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ares::rpc
