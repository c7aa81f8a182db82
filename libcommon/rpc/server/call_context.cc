#include "rpc/server/call_context.h"

#include <utility>

#include "rpc/wire/envelope.h"

namespace ares::rpc {
namespace {

// The handler's reference. The call also holds the answer, so only the destruction of this object
// shows that the handler has dropped it.
class CallResponder final : public Responder {
 public:
  explicit CallResponder(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
  CallResponder(const CallResponder&) = delete;
  CallResponder& operator=(const CallResponder&) = delete;
  ~CallResponder() override {
    answer_->refuse({ErrorCode::internal, "the controller dropped the request without an answer"});
  }
  void send(api::Response response) override { answer_->send(std::move(response)); }
  bool abandoned() const override { return answer_->abandoned(); }
  const std::string& peer() const override { return answer_->peer(); }
  bool takes_parts() const override { return answer_->takes_parts(); }
  void send_part(api::Response part, Taken taken) override {
    answer_->send_part(std::move(part), std::move(taken));
  }

 private:
  const std::shared_ptr<Answer> answer_;
};

void dispatch(const CallContext& call_context, const std::shared_ptr<Answer>& answer,
              const std::string& payload) {
  const auto responder = std::make_shared<CallResponder>(answer);
  api::Request request;
  if (!request.ParseFromString(payload))
    return responder->refuse({ErrorCode::invalid_argument,
                              "the request cannot be read: it is damaged, or a name in it is not "
                              "UTF-8 text"});
  if (request.body_case() == api::Request::BODY_NOT_SET)
    return responder->refuse({ErrorCode::invalid_argument, "the controller (" ARES_VERSION
                                                           ") does not know this request of a "
                                                           "client of version " +
                                                               request.client_version()});
  (*call_context.handler)(to_principal(answer->identity()), std::move(request), responder);
}

// Tells the admission which user the connection belongs to.
bool admit(const CallContext& call_context, Answer& answer) {
  if (!call_context.admission) return true;
  auto admitted = call_context.admission->authenticated(answer.peer(), answer.identity().uid);
  if (!admitted) answer.refuse(std::move(admitted.error()));
  return admitted.has_value();
}

// Continues the session named by the request.
void resume_session(const CallContext& call_context, const std::shared_ptr<Answer>& answer,
                    const api::Sealed& request) {
  auto session =
      call_context.sessions->accept(request.session(), request.sequence(), request.payload(),
                                    request.mac(), auth::SessionTable::Clock::now());
  if (!session) return answer->refuse(std::move(session.error()));
  answer->set_session(std::move(*session), request.sequence());
  answer->set_parts(
      nullptr);  // the numbers of its parts would be those of answers to other requests
  if (!admit(call_context, *answer)) return;
  dispatch(call_context, answer, request.payload());
}

// Opens a session with the credential of the request.
void open_session(const CallContext& call_context, const std::shared_ptr<Answer>& answer,
                  Result<AuthenticatedPeer> authenticated, std::uint64_t sequence,
                  const std::string& payload, const std::string& mac) {
  if (answer->abandoned()) return;
  if (!authenticated) return answer->refuse(std::move(authenticated.error()));
  auto sealed =
      auth::verify_seal(authenticated->key, auth::Direction::request, 0, sequence, payload, mac);
  if (!sealed) return answer->refuse(std::move(sealed.error()));
  answer->set_session(
      call_context.sessions->open(authenticated->key, std::move(authenticated->identity),
                                  auth::SessionTable::Clock::now()),
      sequence);
  if (!admit(call_context, *answer)) return;
  dispatch(call_context, answer, payload);
}

}  // namespace

void Answer::set_session(auth::Session session, std::uint64_t sequence) {
  const Lock lock(mutex_);
  session_ = std::move(session);
  sequence_ = sequence;
}

void Answer::complete(Result<api::Sealed> result) {
  const Lock lock(mutex_);
  if (const Completion completion = std::exchange(completion_, nullptr))
    completion(std::move(result));
}

api::Sealed Answer::sealed(api::Response response) {
  if (response.server_version().empty()) response.set_server_version(ARES_VERSION);
  api::Sealed sealed;
  if (!session_.key) {
    sealed.set_payload(response.SerializeAsString());
    return sealed;
  }
  put_sealed(&sealed, *session_.key, auth::Direction::answer, session_.id, sequence_++,
             response.SerializeAsString());
  return sealed;
}

void Answer::send(api::Response response) {
  const Lock lock(mutex_);
  if (!completion_) return;
  auto message = sealed(std::move(response));
  if (const Completion completion = std::exchange(completion_, nullptr))
    completion(std::move(message));
}

// The transport is called without the lock, because it may call `taken` at once.
void Answer::send_part(api::Response part, Responder::Taken taken) {
  api::Sealed message;
  bool ended = false;
  {
    const Lock lock(mutex_);
    ended = !completion_ || !send_part_;
    if (!ended) message = sealed(std::move(part));
  }
  if (ended) return taken(false);
  send_part_(std::move(message), std::move(taken));
}

void Answer::refuse(Error error) {
  complete(fail(std::move(error)));
}

void Answer::abandon() {
  abandoned_ = true;
  refuse({ErrorCode::unavailable, "the controller is stopping"});
}

bool CallContext::fits(Answer& answer, const api::Sealed& request) const {
  if (request.payload().size() <= max_request_bytes) return true;
  answer.refuse({ErrorCode::invalid_argument,
                 "the request has " + std::to_string(request.payload().size()) +
                     " bytes; at most " + std::to_string(max_request_bytes) + " are accepted"});
  return false;
}

void CallContext::handle(const std::shared_ptr<Answer>& answer, const api::Sealed& request) const {
  if (!fits(*answer, request)) return;
  if (request.credential().empty()) return resume_session(*this, answer, request);
  authenticator->authenticate(
      request.credential(), answer->source(),
      request.credential().size() + request.payload().size(),
      [answer] { return answer->abandoned(); },
      [call_context = *this, answer, sequence = request.sequence(), payload = request.payload(),
       mac = request.mac()](Result<AuthenticatedPeer> authenticated) {
        open_session(call_context, answer, std::move(authenticated), sequence, payload, mac);
      });
}

void CallContext::handle_local(const std::shared_ptr<Answer>& answer, UserId uid, GroupId gid,
                               const api::Sealed& request) const {
  if (!fits(*answer, request)) return;
  authenticator->identify(
      uid, gid, request.payload().size(), [answer] { return answer->abandoned(); },
      [call_context = *this, answer, payload = request.payload()](Result<auth::Identity> identity) {
        if (answer->abandoned()) return;
        if (!identity) return answer->refuse(std::move(identity.error()));
        answer->set_session(
            {0, nullptr, std::make_shared<const auth::Identity>(std::move(*identity))}, 0);
        dispatch(call_context, answer, payload);
      });
}

Principal to_principal(const auth::Identity& identity) {
  return {identity.uid, identity.gid, identity.user, identity.host};
}

}  // namespace ares::rpc
