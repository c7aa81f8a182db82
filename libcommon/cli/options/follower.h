// Follows a stream of the controller until the user ends it (aqueue --watch, aacct --follow): connects again when the
// connection breaks or the controller is silent, and says so. Owned by a command's main thread; made before other threads, since
// it blocks the signals that it waits for.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/client.h"
#include "rpc/client/stream.h"

namespace ares::cli {

class Follower {
 public:
  struct Callbacks {
    // What to ask for, at the first connection and at each later one.
    std::function<api::Watch()> request;
    // Each part. An error ends the command.
    std::function<Status(api::Watched)> take;
    // There are no more parts for now, or the terminal changed, or `every` has passed.
    std::function<void()> settle;
    std::optional<std::chrono::milliseconds> every{};
    // The connection broke, or is there again: a line for the user.
    std::function<void(const std::string&)> tell;
  };

  Follower();
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // 0 when the user ended it by SIGINT, SIGTERM or SIGHUP. A controller that has not been reached once is waited for as
  // long as options.retry_for, afterwards without end.
  Result<int> run(const rpc::ClientOptions& options, const Callbacks& callbacks);

  // The answer to a single call, before run() or within its callbacks. Tried again for as long as
  // options.retry_for. unavailable: also if the user has ended the command.
  Result<api::Response> call(rpc::Client& client, const api::Request& request,
                             const rpc::ClientOptions& options);
  bool ended() const { return ended_; }

 private:
  using Steady = std::chrono::steady_clock;

  Result<api::Response> try_call(rpc::Client& client, const api::Request& request,
                                 const rpc::ClientOptions& options);
  Error follow(rpc::Stream& stream, const rpc::ClientOptions& options, const Callbacks& callbacks);
  Status drain(rpc::Stream& stream, const Callbacks& callbacks);
  bool wait(int fd, const Callbacks& callbacks, Steady::time_point until);
  void read_signals(const Callbacks& callbacks);

  int signals_ = -1;  // a signalfd
  bool ended_ = false;
  bool reached_ = false;         // at least once
  bool told_away_ = false;       // the user was told that the connection broke
  bool heard_ = false;           // on this connection
  std::optional<Error> failed_;  // of take()
  std::chrono::seconds alive_every_{0};
  Steady::time_point settled_at_{};
};

}  // namespace ares::cli
