// One call on the server, by gRPC or the local socket: authenticate, verify, handle, answer.
// A CallContext outlives its calls; an Answer is shared by its users. Any thread. Private to rpc/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "auth/session_table.h"
#include "base/mutex.h"
#include "proto/gen/api.pb.h"
#include "rpc/server/admission.h"
#include "rpc/server/authenticator.h"
#include "rpc/server/handlers.h"

namespace ares::rpc {

// Ends its call exactly once, at the first of: the handler's answer, a refusal, the caller's
// disconnect, the release of the responder.
class Answer {
 public:
  // Transports the answer; called once.
  using Completion = std::function<void(Result<api::Sealed>)>;
  // Transports a part before the answer, one at a time; see Responder::send_part().
  using SendPart = std::function<void(api::Sealed, Responder::Taken)>;

  // It counts for `source` while it waits to be authenticated.
  Answer(Completion completion, std::string peer, std::string source)
      : completion_(std::move(completion)), peer_(std::move(peer)), source_(std::move(source)) {}

  // To be called before the handler sees the answer. A session has no key if the socket itself names both sides.
  void set_session(auth::Session session, std::uint64_t sequence);

  // Before the call is handled; none: the answer has no parts.
  void set_parts(SendPart send_part) { send_part_ = std::move(send_part); }
  bool takes_parts() const { return send_part_ != nullptr; }
  void send_part(api::Response part, Responder::Taken taken);

  void send(api::Response response);  // sealed for the session, if it has a key
  void refuse(Error error);           // unsealed: there may be no session
  void abandon();                     // the caller has disconnected or must disconnect

  const auth::Identity& identity() const { return *session_.identity; }
  bool abandoned() const { return abandoned_; }
  const std::string& peer() const { return peer_; }
  const std::string& source() const { return source_; }

 private:
  void complete(Result<api::Sealed> result);
  api::Sealed sealed(api::Response response) ARES_REQUIRES(mutex_);

  Mutex mutex_;
  // Empty after use, because what it refers to may be destroyed then.
  Completion completion_ ARES_GUARDED_BY(mutex_);
  std::atomic<bool> abandoned_ = false;
  const std::string peer_;
  const std::string source_;
  auth::Session session_;
  std::uint64_t sequence_ ARES_GUARDED_BY(mutex_) = 0;  // of the next part or the answer
  SendPart send_part_;
};

// What all calls need; outlives them.
struct CallContext {
  Authenticator* authenticator;
  auth::SessionTable* sessions;
  const CallHandler* handler;
  std::size_t max_request_bytes;
  Admission* admission = nullptr;  // of callers by TCP

  // `request` is not used after the return.
  void handle(const std::shared_ptr<Answer>& answer, const api::Sealed& request) const;

  // The same of a request without credential and session, from a user of this machine that the socket names.
  void handle_local(const std::shared_ptr<Answer>& answer, UserId uid, GroupId gid,
                    const api::Sealed& request) const;

 private:
  bool fits(Answer& answer, const api::Sealed& request) const;
};

Principal to_principal(const auth::Identity& identity);

}  // namespace ares::rpc
