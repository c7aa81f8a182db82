// Transport of a client's calls: gRPC, or a local socket.
// Owned by a Connection, which calls shut_down() before destroying it; any thread. Private to rpc/.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

class Transport {
 public:
  using Clock = std::chrono::system_clock;  // required by gRPC's deadlines
  using Done = std::function<void(Result<api::Sealed>)>;

  virtual ~Transport() = default;

  // unavailable: no connection, the call was interrupted, or no answer before the deadline.
  virtual Result<api::Sealed> call(const api::Sealed& request, Clock::time_point deadline) = 0;

  // The same; `done` runs once, on a thread of the transport, or on this one if sending failed.
  virtual void call_async(api::Sealed request, Clock::time_point deadline, Done done) = 0;

  // Waits until connected, but not longer than `at_most`. Blocks.
  virtual void await(std::chrono::milliseconds at_most) = 0;

  // Fails calls in flight and later ones as unavailable; waits for the callbacks.
  virtual void shut_down() = 0;
};

}  // namespace ares::rpc
