// HttpEngine: sends HTTP requests by libcurl's multi interface, many at the same time, driven by the owner's event loop. It never waits.
// Certificates are always verified, and no redirection is followed. Owned by the ApiClient; one thread, in which all callbacks run.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "exec/kubernetes/api/reply.h"

namespace ares::kubernetes {

struct HttpRequest {
  std::string method{};
  std::string url{};
  std::vector<std::string> headers{};  // "name: value"
  std::string body{};
  std::size_t most_of_answer = std::size_t{1} << 20;  // of the body; a longer one is a failure
  std::chrono::milliseconds timeout{30'000};          // for all of it
  std::chrono::seconds idle_timeout{0};               // without a byte; 0: only `timeout` counts
  // Of the server and of this client, in PEM.
  std::string ca_pem{};  // empty: the system's authorities
  std::string certificate_pem{};
  std::string key_pem{};
  std::string tls_server_name{};  // that the server's certificate must have; empty: the URL's host
  std::string proxy_url{};        // empty: none, whatever the environment says
};

struct HttpAnswer {
  long status = 0;  // 0: none came, or only a part
  HttpHeaders headers{};
  std::string body{};
  // Without an answer: what happened, fit to show; whether another try must fail as well; and whether it was only silent too long.
  std::string error{};
  bool is_final = false;
  bool is_timeout = false;
  bool is_untrusted = false;  // the authorities that were given do not vouch for the server
};

using HttpDone = std::function<void(HttpAnswer)>;
// Receives the body in parts if the status is 200; the answer has none then. Bodies of other statuses are kept for the answer.
using HttpData = std::function<void(std::string_view)>;

class HttpEngine {
 public:
  using Id = std::uint64_t;

  struct Settings {
    long most_connections = 64;
    // Where the server has it. Many requests then share a connection, and if that dies silently, each of them is lost and the next
    // ones as well: libcurl closes a connection after a time-out only with HTTP/1.1.
    bool http2 = false;
  };

  // failed_precondition: libcurl cannot be used.
  static Result<std::unique_ptr<HttpEngine>> open(const Settings& settings);
  virtual ~HttpEngine() = default;

  // `done` is called once, from dispatch(), unless the request is cancelled.
  virtual Id send(HttpRequest request, HttpDone done, HttpData data = nullptr) = 0;
  // Ends the request; none of its callbacks is called after this, also not those of a running dispatch(). Unknown ids are ignored.
  virtual void cancel(Id id) = 0;
  virtual std::size_t in_flight() const = 0;

  // Readable when dispatch() has work. It stays the same.
  virtual int event_fd() const = 0;
  virtual std::optional<BootTime> next_deadline() const = 0;
  // Must be called when event_fd() is readable or the deadline has passed. Callbacks may call send() and cancel().
  virtual void dispatch() = 0;
};

}  // namespace ares::kubernetes
