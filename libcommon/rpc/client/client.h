// The client's side of Call: one request, one answer, authenticated, retried with the same request
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
  UserId server_uid{0};  // whom the controller runs as: nobody else can open our credentials
  std::chrono::milliseconds timeout{30'000};  // of one try; a WaitJob adds the seconds it asks for
  std::chrono::milliseconds retry_for{600'000};  // how long Retry::unavailable keeps trying
  std::chrono::milliseconds first_delay{
      100};  // between tries: doubles up to max_delay, with jitter
  std::chrono::milliseconds max_delay{2'000};
  // Called once a call, at its first retry, with a line for the user:
  // "the controller at unix:/… is unavailable (…), retrying".
  std::function<void(const std::string&)> on_retry;
  std::size_t max_request_bytes = 8 << 20;  // larger ones are refused here, by a clear error
};

enum class Retry {
  never,        // one try
  unavailable,  // while nobody answers, a try times out, or the answer is an `unavailable` failure
};

// Unique for as long as anybody remembers it: 26 characters, random.
std::string new_request_id();

class Client {
 public:
  // Checks the options; connects at the first call. invalid_argument.
  static Result<Client> open(ClientOptions options);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();  // waits for calls in flight, which fail as unavailable

  // Sets request_id (if empty) and client_version. An answer that carries a failure is returned as
  // an Error, so the response always holds what was asked for. Every try carries the same request
  // id; a session that the server has lost is opened anew unseen.
  Result<api::Response> call(api::Request request, Retry retry = Retry::unavailable);

  // One try, many in flight on one connection. `done` runs once on a thread of the client, or on
  // this one if the request cannot be sent; it must not block and may call call_async().
  void call_async(api::Request request, std::function<void(Result<api::Response>)> done);

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ares::rpc
