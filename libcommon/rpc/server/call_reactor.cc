#include "rpc/server/call_reactor.h"

#include <grpcpp/server_context.h>

#include <utility>

#include "rpc/client/channel.h"

namespace ares::rpc {
namespace {

class CallReactor final : public grpc::ServerUnaryReactor {
 public:
  CallReactor(const grpc::CallbackServerContext& context, api::Sealed* out)
      : answer_(std::make_shared<Answer>(
            [this, out](Result<api::Sealed> result) { leave(out, std::move(result)); },
            context.peer())) {}

  // A copy, because this object may be destroyed when the call is finished.
  std::shared_ptr<Answer> answer() const { return answer_; }

  void OnCancel() override { answer()->abandon(); }
  void OnDone() override { delete this; }

 private:
  void leave(api::Sealed* out, Result<api::Sealed> result) {
    if (!result) return Finish(to_status(result.error()));
    out->Swap(&*result);
    Finish(grpc::Status::OK);
  }

  const std::shared_ptr<Answer> answer_;
};

}  // namespace

grpc::ServerUnaryReactor* start_call(const CallContext& call_context,
                                     grpc::CallbackServerContext* context,
                                     const api::Sealed* request, api::Sealed* answer) {
  auto* reactor = new CallReactor(*context, answer);
  call_context.handle(reactor->answer(), *request);
  return reactor;
}

}  // namespace ares::rpc
