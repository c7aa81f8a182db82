#include "rpc/server/event_loop.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace ares::rpc {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kWakeId = 0;
constexpr milliseconds kRest{100};  // until accepting is tried again
constexpr milliseconds kTick{1000};

}  // namespace

EventLoop::~EventLoop() {
  stop();
}

Status EventLoop::open() {
  epoll_ = Socket(::epoll_create1(EPOLL_CLOEXEC));
  wake_ = Socket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (epoll_ && wake_ && add(wake_.fd(), kWakeId, EPOLLIN)) return {};
  return fail(ErrorCode::unavailable, "cannot wait for connections: " + reason(errno));
}

void EventLoop::start(Ready ready, Tick tick, Work work) {
  ready_ = std::move(ready);
  tick_ = std::move(tick);
  work_ = std::move(work);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void EventLoop::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_.fd(), &one, sizeof one);
  thread_.join();
}

bool EventLoop::add(int fd, std::uint64_t id, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return ::epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event) == 0 ||
         ::epoll_ctl(epoll_.fd(), EPOLL_CTL_MOD, fd, &event) == 0;
}

void EventLoop::remove(int fd) {
  ::epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::add_listener(int fd, std::uint64_t id) {
  listeners_[id] = fd;
  add(fd, id, accepting_ ? std::uint32_t{EPOLLIN} : 0U);
}

void EventLoop::set_accepting(bool accept) {
  accepting_ = accept;
  for (const auto& [id, fd] : listeners_) add(fd, id, accept ? std::uint32_t{EPOLLIN} : 0U);
}

bool EventLoop::pause_after(int error, Problems& problems) {
  if (error == EINTR || error == ECONNABORTED) return false;
  if (error == EAGAIN) return true;
  problems.report("accept", "cannot take connections: " + reason(error) +
                                "; the limit of open descriptors is " +
                                std::to_string(descriptor_limit()) +
                                ", raise it (LimitNOFILE of the service, ulimit -Hn)");
  set_accepting(false);
  return true;
}

void EventLoop::run(const std::stop_token& stop) {
  std::array<epoll_event, 64> events;
  auto next_tick = Clock::now() + kTick;
  bool more_work = false;
  while (!stop.stop_requested()) {
    const auto left = std::chrono::ceil<milliseconds>(next_tick - Clock::now());
    const auto longest = more_work ? milliseconds(0) : accepting_ ? kTick : kRest;
    const auto wait = std::clamp(left, milliseconds(0), longest);
    const int count = ::epoll_wait(epoll_.fd(), events.data(), static_cast<int>(events.size()),
                                   static_cast<int>(wait.count()));
    if (!accepting_) set_accepting(true);
    for (int i = 0; i < count && !stop.stop_requested(); ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 != kWakeId) ready_(event.data.u64, event.events);
    }
    more_work = work_ && work_();
    if (Clock::now() < next_tick) continue;
    next_tick = Clock::now() + kTick;
    tick_();
  }
}

void report_reserve(Problems& problems, const ConnectionLimits& limits) {
  problems.report("reserve", "connections are refused: all but " + std::to_string(limits.reserve) +
                                 " of " + std::to_string(limits.descriptors) +
                                 " descriptors are in use; raise the limit (LimitNOFILE of the "
                                 "service, ulimit -Hn)");
}

void report_reopened(Problems& problems, const std::string& path, const Status& opened) {
  problems.report(
      opened ? "socket made again" : "socket missing",
      opened ? "the socket " + path + " was deleted; it is there again"
             : "the socket " + path + " was deleted or replaced: " + opened.error().message);
}

}  // namespace ares::rpc
