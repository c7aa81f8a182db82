// PendingCall: one try of a call to the controller, whose answer can be waited for together with other
// things. Owned by a command's main thread.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/client.h"
#include "step_client/wait_limit.h"

namespace ares::step_client {

class PendingCall {
 public:
  PendingCall(rpc::Client& client, api::Request request);

  int fd() const;  // becomes readable when the answer has come
  // None: it has not come.
  std::optional<Result<api::Response>> take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// The answer. unavailable: none came in time, or before the interruption.
Result<api::Response> call_within(rpc::Client& client, api::Request request,
                                  const WaitLimit& limit);

}  // namespace ares::step_client
