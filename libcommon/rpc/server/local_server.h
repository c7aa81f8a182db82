// The server's local socket: calls without gRPC, from commands on this machine. One thread reads; any thread may write an
// answer. The system names the caller; clients of release 0.1.0 send a credential of munge.
// Owned by the server; stop() from one thread. Private to rpc/.
#pragma once

#include <memory>

#include "base/result.h"
#include "rpc/server/call_context.h"
#include "rpc/server/limits.h"
#include "rpc/server/local_peer.h"
#include "rpc/server/problems.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

class LocalServer {
 public:
  LocalServer(CallContext call_context, LocalLimits limits, ConnectionLimits descriptors,
              Problems& problems);
  ~LocalServer();  // stop()
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Listens on the call socket of a Unix address, for all users. Before start().
  Status listen(const Address& address);
  Status start();
  // Calls in flight end as unavailable. No handler runs on its thread afterwards.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ares::rpc
