// The server's local socket: calls without gRPC, from commands on this machine. One thread reads;
// any thread may write an answer.
// Owned by the server; stop() from one thread. Private to rpc/.
#pragma once

#include <memory>

#include "base/result.h"
#include "rpc/server/call_context.h"
#include "rpc/server/local_peer.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

class LocalServer {
 public:
  explicit LocalServer(CallContext call_context, LocalLimits limits = {});
  ~LocalServer();  // stop()
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Listens on the call socket of a Unix address, for all users: munge authenticates. Before start().
  Status listen(const Address& address);
  Status start();
  // Calls in flight end as unavailable. No handler runs on its thread afterwards.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ares::rpc
