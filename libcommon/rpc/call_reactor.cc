#include "rpc/call_reactor.h"

#include <grpcpp/server_context.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "rpc/channel.h"

namespace ares::rpc {
namespace {

// Ends its call exactly once, whoever comes first: the handler's answer, a refusal, the caller
// hanging up, or nobody holding the responder any more.
class Answer {
 public:
  Answer(grpc::ServerUnaryReactor* reactor, api::Sealed* out, std::string peer)
      : reactor_(reactor), out_(out), peer_(std::move(peer)) {}

  // Before the handler sees it.
  void set_session(auth::Session session, std::uint64_t sequence) {
    session_ = std::move(session);
    sequence_ = sequence;
  }

  void send(api::Response response) {
    if (response.server_version().empty()) response.set_server_version(ARES_VERSION);
    std::string payload = response.SerializeAsString();
    api::Sealed sealed;
    put_sealed(&sealed, *session_.key, auth::Direction::answer, session_.id, sequence_,
               std::move(payload));
    const std::lock_guard lock(mutex_);
    if (!reactor_) return;
    out_->Swap(&sealed);
    std::exchange(reactor_, nullptr)->Finish(grpc::Status::OK);
  }

  void finish(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (reactor_) std::exchange(reactor_, nullptr)->Finish(status);
  }

  void abandon() {
    abandoned_ = true;
    finish({grpc::StatusCode::UNAVAILABLE, "the controller is stopping"});
  }
  const auth::Identity& identity() const { return *session_.identity; }
  bool abandoned() const { return abandoned_; }
  const std::string& peer() const { return peer_; }

 private:
  std::mutex mutex_;
  grpc::ServerUnaryReactor* reactor_;  // null once finished: it and `out_` may be gone
  api::Sealed* out_;
  std::atomic<bool> abandoned_ = false;
  const std::string peer_;
  auth::Session session_;
  std::uint64_t sequence_ = 0;
};

// What the handler holds. The call itself holds the answer as well, so only this one tells when the
// handler has let go.
class Reply final : public Responder {
 public:
  explicit Reply(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  ~Reply() override {
    answer_->finish(
        {grpc::StatusCode::INTERNAL, "the controller dropped the request without an answer"});
  }
  void send(api::Response response) override { answer_->send(std::move(response)); }
  bool abandoned() const override { return answer_->abandoned(); }
  const std::string& peer() const override { return answer_->peer(); }

 private:
  const std::shared_ptr<Answer> answer_;
};

class CallReactor final : public grpc::ServerUnaryReactor {
 public:
  CallReactor(const CallDesk& desk, const grpc::CallbackServerContext& context, api::Sealed* answer)
      : desk_(desk), answer_(std::make_shared<Answer>(this, answer, context.peer())) {}

  void start(const api::Sealed& request) {
    if (request.payload().size() > desk_.max_request_bytes)
      return answer_->finish(to_status(
          {ErrorCode::invalid_argument,
           "the request has " + std::to_string(request.payload().size()) + " bytes; at most " +
               std::to_string(desk_.max_request_bytes) + " are accepted"}));
    if (request.credential().empty()) return resume(request);
    // `request` may go as soon as the call is finished, so what is still needed is copied.
    desk_.door->admit(
        request.credential(),
        [desk = desk_, answer = answer_, sequence = request.sequence(), payload = request.payload(),
         mac = request.mac()](Result<Admitted> admitted) {
          enter(desk, answer, std::move(admitted), sequence, payload, mac);
        });
  }

  void OnCancel() override {
    const std::shared_ptr<Answer> answer = answer_;
    answer->abandon();
  }
  void OnDone() override { delete this; }

 private:
  void resume(const api::Sealed& request) {
    auto session = desk_.sessions->accept(request.session(), request.sequence(), request.payload(),
                                          request.mac(), auth::SessionTable::Clock::now());
    if (!session) return answer_->finish(to_status(session.error()));
    const std::shared_ptr<Answer> answer = answer_;
    answer->set_session(std::move(*session), request.sequence());
    dispatch(desk_, answer, request.payload());
  }

  static void enter(const CallDesk& desk, const std::shared_ptr<Answer>& answer,
                    Result<Admitted> admitted, std::uint64_t sequence, const std::string& payload,
                    const std::string& mac) {
    if (!admitted) return answer->finish(to_status(admitted.error()));
    auto sealed =
        auth::verify_seal(admitted->key, auth::Direction::request, 0, sequence, payload, mac);
    if (!sealed) return answer->finish(to_status(sealed.error()));
    answer->set_session(desk.sessions->open(admitted->key, std::move(admitted->identity),
                                            auth::SessionTable::Clock::now()),
                        sequence);
    dispatch(desk, answer, payload);
  }

  static void dispatch(const CallDesk& desk, const std::shared_ptr<Answer>& answer,
                       const std::string& payload) {
    const auto reply = std::make_shared<Reply>(answer);
    api::Request request;
    if (!request.ParseFromString(payload))
      return reply->refuse({ErrorCode::invalid_argument,
                            "the request cannot be read: it is damaged, or a name in it is not "
                            "UTF-8 text"});
    if (request.body_case() == api::Request::BODY_NOT_SET)
      return reply->refuse({ErrorCode::invalid_argument, "the controller (" ARES_VERSION
                                                         ") does not know this request of a "
                                                         "client of version " +
                                                             request.client_version()});
    (*desk.handler)(to_principal(answer->identity()), std::move(request), reply);
  }

  const CallDesk& desk_;
  const std::shared_ptr<Answer> answer_;
};

}  // namespace

Principal to_principal(const auth::Identity& identity) {
  return {identity.uid, identity.gid, identity.user, identity.host};
}

grpc::ServerUnaryReactor* start_call(const CallDesk& desk, grpc::CallbackServerContext* context,
                                     const api::Sealed* request, api::Sealed* answer) {
  auto* reactor = new CallReactor(desk, *context, answer);
  reactor->start(*request);
  return reactor;
}

}  // namespace ares::rpc
