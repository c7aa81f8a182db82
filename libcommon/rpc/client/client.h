// The client side of Call: one request, one answer, authenticated, retried with the same request
// id. Owned by a command or daemon; any thread, any number of calls at once.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace ares::api {
class Request;
class Response;
}  // namespace ares::api

namespace ares::rpc {

struct ClientOptions {
  std::vector<std::string> addresses;  // of the controllers, the preferred one first
  std::string munge_socket;            // empty = munge's default
  UserId server_uid{0};  // user of the controller; only this user can decode our credentials
  std::chrono::milliseconds timeout{30'000};  // of one try; for WaitJob plus the requested seconds
  std::chrono::milliseconds retry_for{600'000};  // how long Retry::unavailable retries
  std::chrono::milliseconds first_delay{
      100};  // between tries; doubles up to max_delay, with jitter
  std::chrono::milliseconds max_delay{2'000};
  // Called for each call at its first retry, and at the first one for a reason that the controller
  // gives, with a line for the user: "the controller at unix:/… is unavailable (…), retrying".
  std::function<void(const std::string&)> on_retry;
  std::size_t max_request_bytes = 8 << 20;  // larger ones are refused here with a clear error
};

enum class Retry {
  never,        // one try
  unavailable,  // also without an answer, after a timeout, or if the answer is `unavailable`
};

// Random, 26 characters; practically unique.
std::string new_request_id();

class Client {
 public:
  // Checks the options; connects at the first call. Error: invalid_argument.
  static Result<Client> open(ClientOptions options);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();  // waits for calls in flight, which fail as unavailable

  // Sets request_id (if empty) and client_version. An answer with a failure is returned as an
  // Error, so a response always has the requested body. All tries use the same request id. A
  // session that the server has lost is reopened transparently.
  Result<api::Response> call(api::Request request, Retry retry = Retry::unavailable);

  // One try; many calls may be in flight on one connection. `done` runs once, on a client thread or
  // on this one if the request cannot be sent. It must not block and may call call_async().
  void call_async(api::Request request, std::function<void(Result<api::Response>)> done);

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ares::rpc
