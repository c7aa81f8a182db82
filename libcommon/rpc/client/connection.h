// A client's connection to one controller, with its session. On a local socket the system names the other side, so there is
// no session, credential or seal.
// Owned by the client, which calls shut_down() before destroying it; any thread. Private to rpc/.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/seal.h"
#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/transport.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

// Source and recipient of a client's credentials.
struct Signer {
  std::string munge_socket;
  UserId server_uid;
};

class Connection {
 public:
  using Clock = Transport::Clock;
  using Done = std::function<void(Result<std::string>)>;

  Connection(const Address& address, Signer signer);

  // Sends one payload and returns that of the answer after checking its seal. Opens a session if
  // there is none, and again if the server has lost it.
  Result<std::string> call(const std::string& payload, Clock::time_point deadline);

  // The same; `done` runs on a thread of the transport or on this one.
  void call_async(std::string payload, Clock::time_point deadline, Done done);

  // Waits until connected, but not longer than `at_most`. Blocks.
  void await(std::chrono::milliseconds at_most);

  // Ends asynchronous calls in flight as unavailable and waits until their callbacks have returned.
  void shut_down();

  const std::string& peer() const { return peer_; }

 private:
  // One call opens the session and carries the credential; other calls wait for its answer.
  enum class Phase { none, opening, open };
  struct RequestSeal {  // key and numbers that a message was sealed with
    bool opener = false;
    bool only_opens = false;  // without the payload
    std::optional<auth::SessionKey> key;
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
  };
  struct AsyncCall;

  // Opens a session for a large payload without it: a controller accepts little before authentication. Retries until
  // `munge_deadline` if munged does not answer.
  Result<RequestSeal> sign(bool opener, const std::string& payload, api::Sealed* out,
                           Clock::time_point munge_deadline);
  Result<std::string> make_credential(const auth::SessionKey& key,
                                      Clock::time_point munge_deadline);
  Result<std::string> verify_answer(const RequestSeal& seal, Result<api::Sealed> answer);
  Result<std::string> call_in_session(const std::string& payload, Clock::time_point deadline);
  // None: the other side wants a session.
  std::optional<Result<std::string>> plain_answer(Result<api::Sealed> answer);
  void send_plain(const std::shared_ptr<AsyncCall>& async_call);
  // True: this call must open the session.
  bool join_or_open() ARES_REQUIRES(mutex_);
  void start(std::shared_ptr<AsyncCall> async_call);
  void on_session_opened(bool sent, const Result<std::string>& result);
  void send_async(const std::shared_ptr<AsyncCall>& async_call, bool opener);
  void finish(const std::shared_ptr<AsyncCall>& async_call, Result<std::string> result);

  const std::string peer_;
  const Signer signer_;
  const std::unique_ptr<Transport> transport_;
  std::atomic<bool> by_socket_;  // false once a controller wanted a session

  Mutex mutex_;
  Condition changed_;
  Phase phase_ ARES_GUARDED_BY(mutex_) = Phase::none;
  std::optional<auth::SessionKey> key_ ARES_GUARDED_BY(mutex_);
  std::uint64_t session_ ARES_GUARDED_BY(mutex_) = 0;
  std::uint64_t sequence_ ARES_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<AsyncCall>> waiting_ ARES_GUARDED_BY(mutex_);  // for the session
  std::size_t in_flight_ ARES_GUARDED_BY(mutex_) = 0;  // number of call_async() calls
};

}  // namespace ares::rpc
