#include "rpc/server/stream_reactor.h"

#include <grpcpp/server_context.h>

#include <optional>
#include <utility>

#include "rpc/client/channel.h"
#include "rpc/wire/peer_address.h"

namespace ares::rpc {
namespace {

class StreamReactor final : public grpc::ServerWriteReactor<api::Sealed>,
                            public std::enable_shared_from_this<StreamReactor> {
 public:
  void start(const CallContext& call_context, const std::string& peer, const api::Sealed& request) {
    self_ = shared_from_this();
    answer_ = std::make_shared<Answer>(
        [weak = weak_from_this()](Result<api::Sealed> result) {
          if (const auto stream = weak.lock()) stream->leave(std::move(result));
        },
        peer, machine_of(peer));
    answer_->set_parts([weak = weak_from_this()](api::Sealed part, Responder::Taken taken) {
      if (const auto stream = weak.lock())
        stream->send_part(std::move(part), std::move(taken));
      else
        taken(false);
    });
    call_context.handle(answer_, request);
  }

  void OnWriteDone(bool ok) override {
    Responder::Taken taken;
    {
      const Lock lock(mutex_);
      writing_ = false;
      taken = std::exchange(taken_, nullptr);
      if (leaving_) finish();
    }
    if (taken) taken(ok);
  }
  void OnCancel() override { answer_->abandon(); }
  void OnDone() override {
    const std::shared_ptr<StreamReactor> self = std::exchange(self_, nullptr);
  }

 private:
  void send_part(api::Sealed part, Responder::Taken taken) {
    {
      const Lock lock(mutex_);
      if (!leaving_ && !writing_) {
        writing_ = true;
        out_ = std::move(part);
        taken_ = std::move(taken);
        StartWrite(&out_);
        return;
      }
    }
    taken(false);
  }

  void leave(Result<api::Sealed> result) {
    const Lock lock(mutex_);
    leaving_ = true;
    if (result)
      last_ = std::move(*result);
    else
      status_ = to_status(result.error());
    if (!writing_) finish();
  }

  void finish() ARES_REQUIRES(mutex_) {
    if (!last_) return Finish(status_);
    out_ = std::move(*last_);
    StartWriteAndFinish(&out_, grpc::WriteOptions(), status_);
  }

  std::shared_ptr<StreamReactor> self_;  // until OnDone
  std::shared_ptr<Answer> answer_;

  Mutex mutex_;
  api::Sealed out_ ARES_GUARDED_BY(mutex_);
  Responder::Taken taken_ ARES_GUARDED_BY(mutex_);
  std::optional<api::Sealed> last_ ARES_GUARDED_BY(mutex_);
  grpc::Status status_ ARES_GUARDED_BY(mutex_);
  bool writing_ ARES_GUARDED_BY(mutex_) = false;
  bool leaving_ ARES_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerWriteReactor<api::Sealed>* start_stream(const CallContext& call_context,
                                                    grpc::CallbackServerContext* context,
                                                    const api::Sealed* request) {
  const auto stream = std::make_shared<StreamReactor>();
  stream->start(call_context, plain_peer(context->peer()), *request);
  return stream.get();
}

}  // namespace ares::rpc
