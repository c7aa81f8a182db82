#include "step_client/pending_call.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "base/mutex.h"
#include "os/fd.h"

namespace ares::step_client {

struct PendingCall::Shared {
  os::Fd ready;
  Mutex mutex;
  std::optional<Result<api::Response>> response ARES_GUARDED_BY(mutex);
};

PendingCall::PendingCall(rpc::Client& client, api::Request request)
    : shared_(std::make_shared<Shared>()) {
  shared_->ready.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  client.call_async(std::move(request), [shared = shared_](Result<api::Response> response) {
    const Lock lock(shared->mutex);
    shared->response = std::move(response);
    const std::uint64_t one = 1;
    (void)!::write(shared->ready.get(), &one, sizeof one);
  });
}

int PendingCall::fd() const {
  return shared_->ready.get();
}

std::optional<Result<api::Response>> PendingCall::take() {
  const Lock lock(shared_->mutex);
  return std::exchange(shared_->response, std::nullopt);
}

Result<api::Response> call_within(rpc::Client& client, api::Request request,
                                  const WaitLimit& limit) {
  PendingCall call(client, std::move(request));
  if (limit.wait(call.fd(), POLLIN) != Waited::ready)
    return fail(ErrorCode::unavailable, "the controller does not answer");
  std::optional<Result<api::Response>> answer = call.take();
  if (!answer) return fail(ErrorCode::internal, "the call ended without an answer");
  return std::move(*answer);
}

}  // namespace ares::step_client
