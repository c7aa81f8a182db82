// A client's connection to one controller and the session it has there.
// Owned by the client, which shuts it down before it goes; any thread. Private to rpc/.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "auth/seal.h"
#include "base/ids.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/transport.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

// Where a client's credentials come from and for whom they are.
struct Signer {
  std::string munge_socket;
  UserId server_uid;
};

class Connection {
 public:
  using Clock = Transport::Clock;
  using Done = std::function<void(Result<std::string>)>;

  Connection(const Address& address, Signer signer);

  // Sends one payload and gives back that of the answer, its seal checked. Opens a session where
  // there is none, and once more where the server has lost it.
  Result<std::string> call(const std::string& payload, Clock::time_point deadline);

  // The same; `done` runs on a thread of the transport's, or on this one.
  void call_async(std::string payload, Clock::time_point deadline, Done done);

  // Waits until there is a connection, or so long. Blocks.
  void await(std::chrono::milliseconds at_most);

  // Ends asynchronous calls in flight as unavailable and waits until nothing of them is left.
  void shut_down();

  const std::string& peer() const { return peer_; }

 private:
  // The session is opened by one call, which carries the credential; others wait for its answer.
  enum class Phase { none, opening, open };
  struct RequestSeal {  // by what a message was sealed
    bool opener = false;
    std::optional<auth::SessionKey> key;
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
  };
  struct AsyncCall;

  // A munged that does not answer is asked again until `patience`.
  Result<RequestSeal> sign(bool opener, const std::string& payload, api::Sealed* out,
                           Clock::time_point munge_deadline);
  Result<std::string> make_credential(const auth::SessionKey& key,
                                      Clock::time_point munge_deadline);
  Result<std::string> verify_answer(const RequestSeal& seal, Result<api::Sealed> answer);
  bool join_or_open();  // with the lock held: true = you open
  void start(std::shared_ptr<AsyncCall> async_call);
  void on_session_opened(bool sent, const Result<std::string>& result);
  void send_async(const std::shared_ptr<AsyncCall>& async_call, bool opener);
  void finish(const std::shared_ptr<AsyncCall>& async_call, Result<std::string> result);

  const std::string peer_;
  const Signer signer_;
  const std::unique_ptr<Transport> transport_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Phase phase_ = Phase::none;
  std::optional<auth::SessionKey> key_;
  std::uint64_t session_ = 0;
  std::uint64_t sequence_ = 0;
  std::vector<std::shared_ptr<AsyncCall>> waiting_;  // for the session
  std::size_t in_flight_ = 0;                        // of call_async
};

}  // namespace ares::rpc
