// How a client's calls travel: by gRPC, or through a local socket without it.
// Owned by a Connection, which shuts it down before it goes; any thread. Private to rpc/.
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
  using Clock = std::chrono::system_clock;  // gRPC's deadlines are of it
  using Done = std::function<void(Result<api::Sealed>)>;

  virtual ~Transport() = default;

  // Unavailable: nobody is there, the call was broken off, or there was no answer until the deadline.
  virtual Result<api::Sealed> call(const api::Sealed& request, Clock::time_point deadline) = 0;

  // The same; `done` runs once, on a thread of the transport's, or on this one if nothing could be sent.
  virtual void call_async(api::Sealed request, Clock::time_point deadline, Done done) = 0;

  // Waits until there is a connection, or so long. Blocks.
  virtual void await(std::chrono::milliseconds at_most) = 0;

  // Ends asynchronous calls in flight as unavailable and waits until nothing of them is left. Later ones fail at once.
  virtual void shut_down() = 0;
};

}  // namespace ares::rpc
