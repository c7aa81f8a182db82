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

// A session may be lost again between two tries, but not for ever.
constexpr int kMaxOpenings = 4;

constexpr std::chrono::milliseconds kMungeRetry{100};
constexpr std::chrono::seconds kMungePatience{5};

bool is_session_lost(const Error& error) {
  return error.code == ErrorCode::unauthenticated && error.message == auth::kSessionUnknown;
}

}  // namespace

struct Connection::Flight {
  std::string payload;
  Clock::time_point deadline;
  Done done;
  int openings_left = kMaxOpenings;
  Ticket ticket;  // of the try under way
};

Connection::Connection(const Address& address, Signer signer)
    : peer_(to_string(address)), signer_(std::move(signer)), transport_(make_transport(address)) {}

bool Connection::join_or_open() {
  if (phase_ != Phase::none) return false;
  phase_ = Phase::opening;
  return true;
}

// munged of this machine may just be restarting. If it stays away that is for the user to mend, not
// for a retry to wait for.
Result<std::string> Connection::make_credential(const auth::SessionKey& key,
                                                Clock::time_point patience) {
  for (;;) {
    auto credential =
        auth::munge_encode(key.to_credential_payload(), signer_.munge_socket, signer_.server_uid);
    if (credential || credential.error().code != ErrorCode::unavailable) return credential;
    if (Clock::now() >= patience)
      return fail(ErrorCode::failed_precondition, credential.error().message);
    std::this_thread::sleep_for(kMungeRetry);
  }
}

// Seals `payload`; an opener's carries a new key in a credential.
Result<Connection::Ticket> Connection::sign(bool opener, const std::string& payload,
                                            api::Sealed* out, Clock::time_point patience) {
  Ticket ticket;
  ticket.opener = opener;
  if (opener) {
    ticket.key = auth::SessionKey::random();
    ticket.sequence = 1;
    auto credential = make_credential(*ticket.key, patience);
    if (!credential) return fail(std::move(credential.error()));
    out->set_credential(std::move(*credential));
  } else {
    const std::lock_guard lock(mutex_);
    // Lost by another call just now: as if the server had said so.
    if (phase_ != Phase::open)
      return fail(ErrorCode::unauthenticated, std::string(auth::kSessionUnknown));
    ticket.key = key_;
    ticket.session = session_;
    ticket.sequence = ++sequence_;
  }
  put_sealed(out, *ticket.key, auth::Direction::request, ticket.session, ticket.sequence, payload);
  return ticket;
}

// Checks an answer, and keeps the session's phase in step with what it says.
Result<std::string> Connection::settle(const Ticket& ticket, Result<api::Sealed> answer) {
  Result<std::string> result;
  if (!answer) {
    result = fail(std::move(answer.error()));
  } else if (answer->sequence() != ticket.sequence ||
             (!ticket.opener && answer->session() != ticket.session)) {
    result =
        fail(ErrorCode::unauthenticated, "the answer of " + peer_ + " belongs to another request");
  } else if (auto sealed =
                 auth::verify_seal(*ticket.key, auth::Direction::answer, answer->session(),
                                   answer->sequence(), answer->payload(), answer->mac());
             !sealed) {
    result =
        fail(ErrorCode::unauthenticated,
             "the answer of " + peer_ + " is not from the controller: " + sealed.error().message);
  } else {
    result = std::move(*answer->mutable_payload());
  }

  const std::lock_guard lock(mutex_);
  if (ticket.opener) {
    phase_ = result ? Phase::open : Phase::none;
    key_ = result ? ticket.key : std::nullopt;
    session_ = result ? answer->session() : 0;
    sequence_ = 0;
    changed_.notify_all();
  } else if (!result && is_session_lost(result.error()) && phase_ == Phase::open &&
             session_ == ticket.session) {
    phase_ = Phase::none;
  }
  return result;
}

Result<std::string> Connection::call(const std::string& payload, Clock::time_point deadline) {
  for (int openings_left = kMaxOpenings;; --openings_left) {
    bool opener = false;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_until(lock, deadline, [this] { return phase_ != Phase::opening; }))
        return fail(ErrorCode::unavailable,
                    "the controller at " + peer_ + " did not answer in time");
      opener = join_or_open();
    }
    api::Sealed request;
    const auto patience = std::min(deadline, Clock::now() + kMungePatience);
    auto ticket = sign(opener, payload, &request, patience);
    Result<std::string> result;
    if (ticket) {
      result = settle(*ticket, transport_->call(request, deadline));
    } else {
      result = fail(std::move(ticket.error()));
    }
    if (opener) opened(ticket.has_value(), result);
    if (!result && is_session_lost(result.error()) && openings_left > 1) continue;
    return result;
  }
}

void Connection::await(std::chrono::milliseconds at_most) {
  transport_->await(at_most);
}

void Connection::call_async(std::string payload, Clock::time_point deadline, Done done) {
  auto flight = std::make_shared<Flight>();
  flight->payload = std::move(payload);
  flight->deadline = deadline;
  flight->done = std::move(done);
  {
    const std::lock_guard lock(mutex_);
    ++in_flight_;
  }
  start(std::move(flight));
}

void Connection::start(std::shared_ptr<Flight> flight) {
  bool opener = false;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::opening) {
      waiting_.push_back(std::move(flight));
      return;
    }
    opener = join_or_open();
  }
  launch(flight, opener);
}

void Connection::launch(const std::shared_ptr<Flight>& flight, bool opener) {
  api::Sealed request;
  auto ticket = sign(opener, flight->payload, &request, Clock::time_point{});
  if (!ticket) {
    Result<std::string> result = fail(std::move(ticket.error()));
    if (opener) opened(false, result);
    return land(flight, std::move(result));
  }
  flight->ticket = std::move(*ticket);
  transport_->call_async(std::move(request), flight->deadline,
                         [this, flight](Result<api::Sealed> answer) {
                           auto result = settle(flight->ticket, std::move(answer));
                           if (flight->ticket.opener) opened(true, result);
                           land(flight, std::move(result));
                         });
}

// What waited for the session goes on, or shares the opener's error.
void Connection::opened(bool asked, const Result<std::string>& result) {
  std::vector<std::shared_ptr<Flight>> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (!asked) {
      phase_ = Phase::none;
      changed_.notify_all();
    }
    waiting.swap(waiting_);
  }
  for (const auto& flight : waiting) {
    if (result)
      start(flight);
    else
      land(flight, fail(result.error()));
  }
}

void Connection::land(const std::shared_ptr<Flight>& flight, Result<std::string> result) {
  if (!result && is_session_lost(result.error()) && --flight->openings_left > 0) {
    start(flight);
    return;
  }
  flight->done(std::move(result));
  const std::lock_guard lock(mutex_);
  --in_flight_;
  changed_.notify_all();
}

void Connection::shut_down() {
  transport_->shut_down();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return in_flight_ == 0; });
}

}  // namespace ares::rpc
