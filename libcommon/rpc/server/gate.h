// Takes the connections that are then gRPC's: listens, looks at who connects, and sees when a connection has ended. gRPC's own
// listeners would take every caller. One thread.
// Owned by the server; listen() and start() before, stop() after everything else. Private to rpc/.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "rpc/server/admission.h"
#include "rpc/server/limits.h"
#include "rpc/server/problems.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

struct GateOptions {
  ConnectionLimits limits;
  // Who may connect to a Unix socket: the users of node daemons. Commands use the local socket beside it.
  std::vector<UserId> local_users;
  bool open_to_all = false;  // the mode of a Unix socket: 0600 or 0666
};

class Gate {
 public:
  // Gives a connection to gRPC, which owns the descriptor then.
  using HandOver = std::function<void(int fd)>;

  Gate(GateOptions options, Admission& admission, Problems& problems);
  ~Gate();  // stop()
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // A port 0 becomes the one chosen. Callers wait until start().
  Status listen(Address& address);
  Status start(HandOver hand_over);
  // Takes no more connections; those that gRPC has stay open.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ares::rpc
