#include "rpc/client/connection.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "auth/munge.h"
#include "auth/session_table.h"
#include "rpc/client/make_transport.h"
#include "rpc/wire/envelope.h"

namespace ares::rpc {
namespace {

// Limits how often a call reopens a session that is lost again.
constexpr int kMaxOpenings = 4;

// A larger one does not travel in a session's first message.
constexpr std::size_t kMaxFirstPayload = 32 << 10;

constexpr std::chrono::milliseconds kMungeRetry{100};
constexpr std::chrono::seconds kMungeTimeout{5};

bool is_session_lost(const Error& error) {
  return error.code == ErrorCode::unauthenticated && error.message == auth::kSessionUnknown;
}

}  // namespace

struct Connection::AsyncCall {
  std::string payload;
  Clock::time_point deadline;
  Done done;
  int openings_left = kMaxOpenings;
  RequestSeal seal;  // of the current try
};

Connection::Connection(const Address& address, Signer signer)
    : peer_(to_string(address)),
      signer_(std::move(signer)),
      transport_(make_transport(address, signer_.server_uid)),
      by_socket_(address.kind == Address::Kind::unix_socket) {}

bool Connection::join_or_open() {
  if (phase_ != Phase::none) return false;
  phase_ = Phase::opening;
  return true;
}

// The local munged may be restarting, so retry for a short time. If it stays away the user must
// fix it; longer retries do not help.
Result<std::string> Connection::make_credential(const auth::SessionKey& key,
                                                Clock::time_point munge_deadline) {
  for (;;) {
    auto credential =
        auth::munge_encode(key.to_credential_payload(), signer_.munge_socket, signer_.server_uid);
    if (credential || credential.error().code != ErrorCode::unavailable) return credential;
    if (Clock::now() >= munge_deadline)
      return fail(ErrorCode::failed_precondition, credential.error().message);
    std::this_thread::sleep_for(kMungeRetry);
  }
}

// Seals `payload`. The message that opens the session carries a new key in a credential.
Result<Connection::RequestSeal> Connection::sign(bool opener, const std::string& payload,
                                                 api::Sealed* out,
                                                 Clock::time_point munge_deadline) {
  RequestSeal seal;
  seal.opener = opener;
  seal.only_opens = opener && payload.size() > kMaxFirstPayload;
  if (opener) {
    seal.key = auth::SessionKey::random();
    seal.sequence = 1;
    auto credential = make_credential(*seal.key, munge_deadline);
    if (!credential) return fail(std::move(credential.error()));
    out->set_credential(std::move(*credential));
  } else {
    const Lock lock(mutex_);
    // Another call just lost it: report this as if the server had.
    if (phase_ != Phase::open)
      return fail(ErrorCode::unauthenticated, std::string(auth::kSessionUnknown));
    seal.key = key_;
    seal.session = session_;
    seal.sequence = ++sequence_;
  }
  put_sealed(out, *seal.key, auth::Direction::request, seal.session, seal.sequence,
             seal.only_opens ? std::string() : payload);
  return seal;
}

// Checks an answer and updates the phase of the session accordingly.
Result<std::string> Connection::verify_answer(const RequestSeal& seal, Result<api::Sealed> answer) {
  Result<std::string> result;
  if (!answer) {
    result = fail(std::move(answer.error()));
  } else if (answer->sequence() != seal.sequence ||
             (!seal.opener && answer->session() != seal.session)) {
    result =
        fail(ErrorCode::unauthenticated, "the answer of " + peer_ + " belongs to another request");
  } else if (auto sealed = auth::verify_seal(*seal.key, auth::Direction::answer, answer->session(),
                                             answer->sequence(), answer->payload(), answer->mac());
             !sealed) {
    result =
        fail(ErrorCode::unauthenticated,
             "the answer of " + peer_ + " is not from the controller: " + sealed.error().message);
  } else {
    result = std::move(*answer->mutable_payload());
  }

  const Lock lock(mutex_);
  if (seal.opener) {
    phase_ = result ? Phase::open : Phase::none;
    key_ = result ? seal.key : std::nullopt;
    session_ = result ? answer->session() : 0;
    sequence_ = 0;
    changed_.notify_all();
  } else if (!result && is_session_lost(result.error()) && phase_ == Phase::open &&
             session_ == seal.session) {
    phase_ = Phase::none;
  }
  return result;
}

// A controller of release 0.1.0 answers that it does not know the session.
std::optional<Result<std::string>> Connection::plain_answer(Result<api::Sealed> answer) {
  if (answer) return std::move(*answer->mutable_payload());
  if (!is_session_lost(answer.error())) return fail(std::move(answer.error()));
  by_socket_ = false;
  return std::nullopt;
}

Result<std::string> Connection::call(const std::string& payload, Clock::time_point deadline) {
  if (by_socket_) {
    api::Sealed request;
    request.set_payload(payload);
    if (auto answer = plain_answer(transport_->call(request, deadline))) return std::move(*answer);
  }
  return call_in_session(payload, deadline);
}

Result<std::string> Connection::call_in_session(const std::string& payload,
                                                Clock::time_point deadline) {
  for (int openings_left = kMaxOpenings;; --openings_left) {
    bool opener = false;
    {
      Lock lock(mutex_);
      if (!changed_.wait_until(lock, deadline,
                               [this]() ARES_REQUIRES(mutex_) { return phase_ != Phase::opening; }))
        return fail(ErrorCode::unavailable,
                    "the controller at " + peer_ + " did not answer in time");
      opener = join_or_open();
    }
    api::Sealed request;
    const auto munge_deadline = std::min(deadline, Clock::now() + kMungeTimeout);
    auto seal = sign(opener, payload, &request, munge_deadline);
    Result<std::string> result;
    if (seal) {
      result = verify_answer(*seal, transport_->call(request, deadline));
    } else {
      result = fail(std::move(seal.error()));
    }
    if (opener) on_session_opened(seal.has_value(), result);
    if (result && seal->only_opens) continue;
    if (!result && is_session_lost(result.error()) && openings_left > 1) continue;
    return result;
  }
}

void Connection::await(std::chrono::milliseconds at_most) {
  transport_->await(at_most);
}

void Connection::call_async(std::string payload, Clock::time_point deadline, Done done) {
  auto async_call = std::make_shared<AsyncCall>();
  async_call->payload = std::move(payload);
  async_call->deadline = deadline;
  async_call->done = std::move(done);
  {
    const Lock lock(mutex_);
    ++in_flight_;
  }
  start(std::move(async_call));
}

void Connection::send_plain(const std::shared_ptr<AsyncCall>& async_call) {
  api::Sealed request;
  request.set_payload(async_call->payload);
  transport_->call_async(std::move(request), async_call->deadline,
                         [this, async_call](Result<api::Sealed> answer) {
                           if (auto result = plain_answer(std::move(answer)))
                             finish(async_call, std::move(*result));
                           else
                             start(async_call);
                         });
}

void Connection::start(std::shared_ptr<AsyncCall> async_call) {
  if (by_socket_) return send_plain(async_call);
  bool opener = false;
  {
    const Lock lock(mutex_);
    if (phase_ == Phase::opening) {
      waiting_.push_back(std::move(async_call));
      return;
    }
    opener = join_or_open();
  }
  send_async(async_call, opener);
}

void Connection::send_async(const std::shared_ptr<AsyncCall>& async_call, bool opener) {
  api::Sealed request;
  auto seal = sign(opener, async_call->payload, &request, Clock::time_point{});
  if (!seal) {
    Result<std::string> result = fail(std::move(seal.error()));
    if (opener) on_session_opened(false, result);
    return finish(async_call, std::move(result));
  }
  async_call->seal = std::move(*seal);
  transport_->call_async(std::move(request), async_call->deadline,
                         [this, async_call](Result<api::Sealed> answer) {
                           auto result = verify_answer(async_call->seal, std::move(answer));
                           if (async_call->seal.opener) on_session_opened(true, result);
                           if (result && async_call->seal.only_opens)
                             start(async_call);
                           else
                             finish(async_call, std::move(result));
                         });
}

// Starts the calls that waited for the session, or fails them with the opener's error.
void Connection::on_session_opened(bool sent, const Result<std::string>& result) {
  std::vector<std::shared_ptr<AsyncCall>> waiting;
  {
    const Lock lock(mutex_);
    if (!sent) {
      phase_ = Phase::none;
      changed_.notify_all();
    }
    waiting.swap(waiting_);
  }
  for (const auto& async_call : waiting) {
    if (result)
      start(async_call);
    else
      finish(async_call, fail(result.error()));
  }
}

void Connection::finish(const std::shared_ptr<AsyncCall>& async_call, Result<std::string> result) {
  if (!result && is_session_lost(result.error()) && --async_call->openings_left > 0) {
    start(async_call);
    return;
  }
  async_call->done(std::move(result));
  const Lock lock(mutex_);
  --in_flight_;
  changed_.notify_all();
}

void Connection::shut_down() {
  transport_->shut_down();
  Lock lock(mutex_);
  changed_.wait(lock, [this]() ARES_REQUIRES(mutex_) { return in_flight_ == 0; });
}

}  // namespace ares::rpc
