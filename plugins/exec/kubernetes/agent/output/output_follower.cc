#include "exec/kubernetes/agent/output/output_follower.h"

#include <algorithm>
#include <utility>

#include "exec/kubernetes/agent/pods/pod_names.h"
#include "exec/kubernetes/api/rfc3339.h"

namespace ares::kubernetes {
namespace {

// Between two connections for a pod: the least after news, doubled up to the most without any. A job may be silent for long.
constexpr std::chrono::milliseconds kLeastPause{500}, kMostPause{16'000};
constexpr std::chrono::seconds kRetry{1};  // after a failure
// Marks have whole seconds.
constexpr std::chrono::seconds kSlack{1};
constexpr std::chrono::minutes kLongest{5};
constexpr std::chrono::milliseconds kSoon{1};

}  // namespace

OutputFollower::OutputFollower(ApiClient& client, OutputHooks hooks)
    : client_(client), hooks_(std::move(hooks)) {}

OutputFollower::~OutputFollower() {
  for (auto& [name, followed] : pods_) disconnect(followed);
}

void OutputFollower::take(bool taken) {
  if (is_taken_ == taken) return;
  is_taken_ = taken;
  for (auto& [name, followed] : pods_) {
    if (!taken) disconnect(followed);
    wake(name, hooks_.now());
  }
}

void OutputFollower::follow(const std::string& pod, const std::string& space, OutputState told) {
  if (!pods_
           .try_emplace(pod,
                        Followed{.output = PodOutput(told), .space = space, .pause = kLeastPause})
           .second)
    return;
  wake(pod, hooks_.now());
}

void OutputFollower::pod_is_going(const std::string& pod) {
  const auto it = pods_.find(pod);
  if (it == pods_.end() || std::exchange(it->second.is_going, true)) return;
  if (it->second.output.has_pod_ended()) return;
  disconnect(it->second);
  it->second.retry_at = {};
  wake(pod, hooks_.now());
}

void OutputFollower::pod_ended(const std::string& pod, bool by_itself) {
  const auto it = pods_.find(pod);
  if (it == pods_.end() || it->second.output.has_pod_ended()) return;
  it->second.output.pod_ended(by_itself);
  it->second.retry_at = {};
  wake(pod, hooks_.now());
}

void OutputFollower::pod_gone(const std::string& pod) {
  const auto it = pods_.find(pod);
  if (it == pods_.end()) return;
  it->second.output.pod_ended(false);
  it->second.output.give_up();
  wake(pod, hooks_.now());
}

void OutputFollower::stored(const std::string& pod, std::uint64_t size, bool ended) {
  const auto it = pods_.find(pod);
  if (it == pods_.end()) return;
  it->second.output.stored(size, ended, hooks_.now());
  wake(pod, hooks_.now());
}

void OutputFollower::forget(const std::string& pod) {
  const auto it = pods_.find(pod);
  if (it == pods_.end()) return;
  disconnect(it->second);
  if (it->second.due) due_.erase({*it->second.due, pod});
  pods_.erase(it);
}

bool OutputFollower::is_complete(const std::string& pod) const {
  const auto it = pods_.find(pod);
  return is_taken_ == false || (it != pods_.end() && it->second.output.is_complete());
}

// --- the loop -----------------------------------------------------------------------------------

void OutputFollower::wake(const std::string& pod, BootTime at) {
  std::optional<BootTime>& due = pods_.at(pod).due;
  if (due && *due <= at) return;
  if (due) due_.erase({*due, pod});
  due = at;
  due_.emplace(at, pod);
}

std::optional<BootTime> OutputFollower::next_deadline() const {
  std::optional<BootTime> next;
  if (!due_.empty()) next = due_.begin()->first;
  if (!waiting_.empty() && connections_ < kMostConnections) next = BootTime{};
  return next;
}

void OutputFollower::dispatch() {
  const BootTime now = hooks_.now();
  while (!due_.empty() && due_.begin()->first <= now) {
    const std::string pod = due_.begin()->second;
    due_.erase(due_.begin());
    Followed& followed = pods_.at(pod);
    followed.due.reset();
    work(pod, followed, now);
  }
  while (!waiting_.empty() && connections_ < kMostConnections) connect_next();
}

// The hooks do not call back.
void OutputFollower::work(const std::string& pod, Followed& followed, BootTime now) {
  if (!is_taken_) return;
  if (!*is_taken_) return hooks_.complete(pod);
  PodOutput& output = followed.output;
  if (!output.wants_log()) disconnect(followed);
  if (const auto part = output.next_part(now)) hooks_.output(pod, *part);
  if (const auto state = output.next_state(now)) hooks_.annotate(pod, *state);
  if (followed.connection == 0 && output.wants_log() && !followed.is_waiting) {
    if (now < followed.retry_at) {
      wake(pod, followed.retry_at);
    } else if (connections_ < kMostConnections) {
      connect(pod, followed);
    } else {
      followed.is_waiting = true;
      waiting_.push_back(pod);
    }
  }
  if (const auto next = output.next_deadline()) wake(pod, std::max(*next, now + kSoon));
  if (!output.is_complete() || std::exchange(followed.was_complete, true)) return;
  if (output.lost() > 0)
    hooks_.say(pod + ": " + std::to_string(output.lost()) +
               " bytes of its output were no longer in its log");
  if (output.is_end_missing()) hooks_.say(pod + ": the end of its output could not be read");
  hooks_.complete(pod);
}

void OutputFollower::connect(const std::string& pod, Followed& followed) {
  ApiRequest request{.call = Call::get_pod_log, .target = {followed.space, pod}};
  request.query = {{"container", kMainContainer}};
  if (const auto since = followed.output.log_since())
    request.query.emplace_back("sinceTime", format_micro_time(*since - kSlack));
  if (followed.is_going && !followed.output.has_pod_ended())
    request.query.emplace_back("follow", "true");
  request.timeout = kLongest;
  request.is_single = true;
  followed.output.connected();
  followed.has_news = false;
  ++connections_;
  followed.connection = client_.call(
      std::move(request), [this, pod](const ApiResult& result) { connection_ended(pod, result); },
      [this, pod](std::string_view bytes) {
        Followed& to = pods_.at(pod);
        const BootTime at = hooks_.now();
        if (to.output.received(bytes, at)) to.has_news = true;
        wake(pod, at);
      });
}

void OutputFollower::disconnect(Followed& followed) {
  if (followed.connection == 0) return;
  client_.cancel(std::exchange(followed.connection, 0));
  --connections_;
}

void OutputFollower::connection_ended(const std::string& pod, const ApiResult& result) {
  Followed& followed = pods_.at(pod);
  const BootTime now = hooks_.now();
  followed.connection = 0;
  --connections_;
  if (result) {
    followed.pause = followed.has_news ? Duration(kLeastPause)
                                       : std::min<Duration>(2 * followed.pause, kMostPause);
    followed.retry_at = now + (followed.output.has_pod_ended() ? Duration(kRetry) : followed.pause);
    followed.output.disconnected(now);
  } else {
    followed.retry_at = now + kRetry;
    followed.output.read_failed(now);
  }
  wake(pod, now);
}

// For the pod that waits longest.
void OutputFollower::connect_next() {
  const std::string pod = waiting_.front();
  waiting_.pop_front();
  const auto it = pods_.find(pod);
  if (it == pods_.end() || !std::exchange(it->second.is_waiting, false)) return;
  if (it->second.connection == 0 && it->second.output.wants_log()) connect(pod, it->second);
}

}  // namespace ares::kubernetes
