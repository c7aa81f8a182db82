// One call on the server, whichever way it came: authenticate, open, hand on, answer.
// A desk outlives its calls; an answer lives as long as somebody may still send it. Any thread. Private to rpc/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "auth/session_table.h"
#include "proto/gen/api.pb.h"
#include "rpc/server/authenticator.h"
#include "rpc/server/handlers.h"

namespace ares::rpc {

// Ends its call exactly once, whoever comes first: the handler's answer, a refusal, the caller hanging up, or nobody holding
// the responder any more.
class Answer {
 public:
  // Takes the way back; called once.
  using Completion = std::function<void(Result<api::Sealed>)>;

  Answer(Completion completion, std::string peer)
      : completion_(std::move(completion)), peer_(std::move(peer)) {}

  // Before the handler sees it.
  void set_session(auth::Session session, std::uint64_t sequence);

  void send(api::Response response);  // sealed for the session
  void refuse(Error error);           // in clear: there may be no session
  void abandon();                     // the caller has gone, or is to go

  const auth::Identity& identity() const { return *session_.identity; }
  bool abandoned() const { return abandoned_; }
  const std::string& peer() const { return peer_; }

 private:
  void complete(Result<api::Sealed> result);

  std::mutex mutex_;
  Completion completion_;  // empty once used: what it leads to may be gone
  std::atomic<bool> abandoned_ = false;
  const std::string peer_;
  auth::Session session_;
  std::uint64_t sequence_ = 0;
};

// What every call needs; outlives them all.
struct CallContext {
  Authenticator* authenticator;
  auth::SessionTable* sessions;
  const CallHandler* handler;
  std::size_t max_request_bytes;

  // `request` may go when this returns.
  void handle(const std::shared_ptr<Answer>& answer, const api::Sealed& request) const;
};

Principal to_principal(const auth::Identity& identity);

}  // namespace ares::rpc
