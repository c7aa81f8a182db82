#include "rpc/server/call_reactor.h"

#include <grpcpp/server_context.h>

#include <utility>

#include "rpc/client/channel.h"
#include "rpc/wire/peer_address.h"

namespace ares::rpc {
namespace {

class CallReactor final : public grpc::ServerUnaryReactor {
 public:
  CallReactor(const std::string& peer, api::Sealed* out, Admission& admission)
      : admission_(admission),
        answer_(std::make_shared<Answer>(
            [this, out](Result<api::Sealed> result) { leave(out, std::move(result)); }, peer,
            machine_of(peer))) {}

  // A copy: once the call is finished this object may be gone.
  std::shared_ptr<Answer> answer() const { return answer_; }

  void OnCancel() override { answer()->abandon(); }
  void OnDone() override { delete this; }

 private:
  void leave(api::Sealed* out, Result<api::Sealed> result) {
    if (!result) return Finish(to_status(result.error()));
    kept_ = admission_.keep_answer(answer_->peer(), result->payload().size());
    if (!kept_)
      return Finish(to_status(
          {ErrorCode::unavailable, "too many answers to you wait to be read: read them first"}));
    out->Swap(&*result);
    Finish(grpc::Status::OK);
  }

  Admission& admission_;
  Admission::Kept kept_;  // until gRPC has sent the answer
  const std::shared_ptr<Answer> answer_;
};

}  // namespace

grpc::ServerUnaryReactor* start_call(const CallContext& call_context,
                                     grpc::CallbackServerContext* context,
                                     const api::Sealed* request, api::Sealed* answer) {
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): deletes itself in OnDone()
  auto* reactor = new CallReactor(plain_peer(context->peer()), answer, *call_context.admission);
  call_context.handle(reactor->answer(), *request);
  return reactor;
}

}  // namespace ares::rpc
