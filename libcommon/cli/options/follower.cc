#include "cli/options/follower.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "rpc/client/backoff.h"
#include "rpc/client/open_stream.h"

namespace ares::cli {
namespace {

constexpr std::chrono::milliseconds kFirstDelay{100}, kLongestDelay{2000};
// The controller is taken for gone when so many of its signs of life are missing.
constexpr int kMissing = 3;

// From then on the user is told that a controller that may be hung has not answered.
constexpr std::chrono::seconds kSlow{5};

// What a call has returned. It may come after the wait for it has ended.
struct Answer {
  Answer() = default;
  ~Answer() {
    if (ready >= 0) ::close(ready);
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  const int ready = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Mutex mutex;
  std::optional<Result<api::Response>> response ARES_GUARDED_BY(mutex);
};

sigset_t followed_signals() {
  sigset_t all;
  sigemptyset(&all);
  for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&all, one);
  return all;
}

}  // namespace

Follower::Follower() {
  const sigset_t all = followed_signals();
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  signals_ = ::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

Follower::~Follower() {
  if (signals_ >= 0) ::close(signals_);
}

void Follower::read_signals(const Callbacks& callbacks) {
  signalfd_siginfo info{};
  bool resized = false;
  while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    resized = resized || info.ssi_signo == SIGWINCH;
    ended_ = ended_ || info.ssi_signo != SIGWINCH;
  }
  if (resized && !ended_ && reached_ && callbacks.settle) callbacks.settle();
}

// True: `fd` is readable. False: `until` has come, or the user ended it.
bool Follower::wait(int fd, const Callbacks& callbacks, Steady::time_point until) {
  while (!ended_) {
    auto wake = until;
    if (callbacks.every && reached_) wake = std::min(wake, settled_at_ + *callbacks.every);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Steady::now()).count();
    pollfd ready[2] = {{fd, POLLIN, 0}, {signals_, POLLIN, 0}};
    ::poll(ready, 2, static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000)));
    if (ready[1].revents != 0) read_signals(callbacks);
    if (ended_) return false;
    if (ready[0].revents != 0) return true;
    const auto now = Steady::now();
    if (callbacks.every && reached_ && now >= settled_at_ + *callbacks.every) {
      callbacks.settle();
      settled_at_ = Steady::now();
    }
    if (now >= until) return false;
  }
  return false;
}

// Takes what has arrived. An error ends the stream.
Status Follower::drain(rpc::Stream& stream, const Callbacks& callbacks) {
  bool any = false;
  for (;;) {
    auto part = stream.next();
    if (!part) {
      if (any) callbacks.settle();
      return fail(std::move(part.error()));
    }
    if (!*part) break;
    any = true;
    if (!std::exchange(heard_, true) && std::exchange(told_away_, false))
      callbacks.tell("connected to the controller again");
    reached_ = true;
    api::Watched& watched = *(*part)->mutable_watched();
    alive_every_ = std::chrono::seconds(watched.alive_every());
    if (watched.kind() == api::Watched::ALIVE && watched.lsn() == 0) continue;
    if (Status taken = callbacks.take(std::move(watched)); !taken) {
      failed_ = std::move(taken.error());
      return fail(*failed_);
    }
  }
  if (any) {
    callbacks.settle();
    settled_at_ = Steady::now();
  }
  return {};
}

Error Follower::follow(rpc::Stream& stream, const rpc::ClientOptions& options,
                       const Callbacks& callbacks) {
  heard_ = false;
  for (;;) {
    if (Status drained = drain(stream, callbacks); !drained) return std::move(drained.error());
    const std::chrono::milliseconds silence =
        heard_ && alive_every_.count() > 0 ? std::chrono::milliseconds(alive_every_) * kMissing
                                           : options.timeout;
    if (wait(stream.fd(), callbacks, Steady::now() + silence)) continue;
    return {ErrorCode::unavailable,
            "the controller has said nothing for " +
                std::to_string(std::chrono::duration_cast<std::chrono::seconds>(silence).count()) +
                " s"};
  }
}

Result<api::Response> Follower::try_call(rpc::Client& client, const api::Request& request,
                                         const rpc::ClientOptions& options) {
  const auto answer = std::make_shared<Answer>();
  if (answer->ready < 0) return fail(ErrorCode::internal, "an answer cannot be waited for");
  client.call_async(request, [answer](Result<api::Response> response) {
    const Lock lock(answer->mutex);
    answer->response = std::move(response);
    const std::uint64_t one = 1;
    (void)!::write(answer->ready, &one, sizeof one);
  });
  const auto sent = Steady::now();
  bool came = wait(answer->ready, {}, sent + kSlow);
  if (!came && !ended_ && options.on_retry)
    options.on_retry("the controller has not answered for " + std::to_string(kSlow.count()) +
                     " s, waiting");
  came = came || wait(answer->ready, {}, sent + options.timeout + kSlow);
  const Lock lock(answer->mutex);
  if (!came || !answer->response)
    return fail(ErrorCode::unavailable, "the controller does not answer");
  return std::move(*answer->response);
}

Result<api::Response> Follower::call(rpc::Client& client, const api::Request& request,
                                     const rpc::ClientOptions& options) {
  if (signals_ < 0) return fail(ErrorCode::internal, "signals cannot be waited for");
  rpc::Backoff backoff(kFirstDelay, kLongestDelay);
  const auto give_up = Steady::now() + options.retry_for;
  for (bool told = false;; told = true) {
    auto response = try_call(client, request, options);
    const auto next = Steady::now() + backoff.next();
    if (response || response.error().code != ErrorCode::unavailable || ended_ || next >= give_up)
      return response;
    if (!told && options.on_retry) options.on_retry(response.error().message + ", retrying");
    wait(-1, {}, next);
  }
}

Result<int> Follower::run(const rpc::ClientOptions& options, const Callbacks& callbacks) {
  if (signals_ < 0) return fail(ErrorCode::internal, "signals cannot be waited for");
  rpc::Backoff backoff(kFirstDelay, kLongestDelay);
  const auto give_up = Steady::now() + options.retry_for;
  for (std::size_t tries = 0; !ended_; ++tries) {
    api::Request request;
    *request.mutable_watch() = callbacks.request();
    auto stream = rpc::open_stream(options, tries, std::move(request), signals_);
    heard_ = false;
    Error why = stream ? follow(**stream, options, callbacks) : std::move(stream.error());
    read_signals(callbacks);
    if (ended_) break;
    if (failed_) return fail(std::move(*failed_));
    // The controller may not know yet that the streams of a broken connection have ended, and count them.
    const bool is_counted_still = reached_ && why.code == ErrorCode::resource_exhausted;
    if (why.code != ErrorCode::unavailable && !is_counted_still) return fail(std::move(why));
    if (heard_) backoff.reset();
    if (!reached_ && Steady::now() >= give_up) return fail(std::move(why));
    if (!std::exchange(told_away_, true)) callbacks.tell(why.message + ", reconnecting");
    wait(-1, callbacks, Steady::now() + backoff.next());
  }
  return 0;
}

}  // namespace ares::cli
