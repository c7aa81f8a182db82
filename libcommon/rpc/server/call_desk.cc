#include "rpc/server/call_desk.h"

#include <utility>

#include "rpc/wire/envelope.h"

namespace ares::rpc {
namespace {

// What the handler holds. The call itself holds the answer as well, so only this one tells when the
// handler has let go.
class Reply final : public Responder {
 public:
  explicit Reply(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  ~Reply() override {
    answer_->refuse({ErrorCode::internal, "the controller dropped the request without an answer"});
  }
  void send(api::Response response) override { answer_->send(std::move(response)); }
  bool abandoned() const override { return answer_->abandoned(); }
  const std::string& peer() const override { return answer_->peer(); }

 private:
  const std::shared_ptr<Answer> answer_;
};

void dispatch(const CallDesk& desk, const std::shared_ptr<Answer>& answer,
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

// In the session it names.
void resume(const CallDesk& desk, const std::shared_ptr<Answer>& answer,
            const api::Sealed& request) {
  auto session = desk.sessions->accept(request.session(), request.sequence(), request.payload(),
                                       request.mac(), auth::SessionTable::Clock::now());
  if (!session) return answer->refuse(std::move(session.error()));
  answer->set_session(std::move(*session), request.sequence());
  dispatch(desk, answer, request.payload());
}

// By the credential it brought.
void enter(const CallDesk& desk, const std::shared_ptr<Answer>& answer, Result<Admitted> admitted,
           std::uint64_t sequence, const std::string& payload, const std::string& mac) {
  if (answer->abandoned()) return;
  if (!admitted) return answer->refuse(std::move(admitted.error()));
  auto sealed =
      auth::verify_seal(admitted->key, auth::Direction::request, 0, sequence, payload, mac);
  if (!sealed) return answer->refuse(std::move(sealed.error()));
  answer->set_session(desk.sessions->open(admitted->key, std::move(admitted->identity),
                                          auth::SessionTable::Clock::now()),
                      sequence);
  dispatch(desk, answer, payload);
}

}  // namespace

void Answer::set_session(auth::Session session, std::uint64_t sequence) {
  session_ = std::move(session);
  sequence_ = sequence;
}

void Answer::leave(Result<api::Sealed> result) {
  const std::lock_guard lock(mutex_);
  if (const Exit exit = std::exchange(exit_, nullptr)) exit(std::move(result));
}

void Answer::send(api::Response response) {
  if (response.server_version().empty()) response.set_server_version(ARES_VERSION);
  api::Sealed sealed;
  put_sealed(&sealed, *session_.key, auth::Direction::answer, session_.id, sequence_,
             response.SerializeAsString());
  leave(std::move(sealed));
}

void Answer::refuse(Error error) {
  leave(fail(std::move(error)));
}

void Answer::abandon() {
  abandoned_ = true;
  refuse({ErrorCode::unavailable, "the controller is stopping"});
}

void CallDesk::take(const std::shared_ptr<Answer>& answer, const api::Sealed& request) const {
  if (request.payload().size() > max_request_bytes)
    return answer->refuse({ErrorCode::invalid_argument,
                           "the request has " + std::to_string(request.payload().size()) +
                               " bytes; at most " + std::to_string(max_request_bytes) +
                               " are accepted"});
  if (request.credential().empty()) return resume(*this, answer, request);
  door->admit(request.credential(),
              [desk = *this, answer, sequence = request.sequence(), payload = request.payload(),
               mac = request.mac()](Result<Admitted> admitted) {
                enter(desk, answer, std::move(admitted), sequence, payload, mac);
              });
}

Principal to_principal(const auth::Identity& identity) {
  return {identity.uid, identity.gid, identity.user, identity.host};
}

}  // namespace ares::rpc
