#include "aresd/node_host.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>

#include "os/clock.h"

namespace ares::aresd {
namespace {

constexpr std::uint64_t kWakeupTag = ~0ULL;
constexpr std::uint64_t kTimerTag = kWakeupTag - 1;

node::Moment now() {
  return {os::wall_now(), os::boot_now()};
}

void watch(int poll, int fd, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  ::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

void drain(int fd) {
  std::uint64_t count = 0;
  (void)!::read(fd, &count, sizeof count);
}

}  // namespace

Result<std::unique_ptr<NodeHost>> NodeHost::make() {
  std::unique_ptr<NodeHost> self(new NodeHost());
  self->poll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  self->wakeup_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  self->timer_.reset(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!self->poll_ || !self->wakeup_ || !self->timer_)
    return fail(os::errno_error("cannot set up the event loop"));
  watch(self->poll_.get(), self->wakeup_.get(), kWakeupTag);
  watch(self->poll_.get(), self->timer_.get(), kTimerTag);
  return self;
}

void NodeHost::add(const std::string& name, std::unique_ptr<HostedNode> node) {
  const std::size_t index = slots_.size();
  if (const int fd = node->event_fd(); fd >= 0) watch(poll_.get(), fd, index);
  slots_.push_back({name, std::move(node), std::nullopt, {}});
  by_name_.emplace(name, index);
  update_schedule(index);
}

void NodeHost::put(Input input) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = inputs_.empty();
    inputs_.push_back(std::move(input));
  }
  const std::uint64_t one = 1;
  if (first) (void)!::write(wakeup_.get(), &one, sizeof one);
}

void NodeHost::stop() {
  stop_ = true;
  const std::uint64_t one = 1;
  (void)!::write(wakeup_.get(), &one, sizeof one);
}

void NodeHost::run() {
  while (!stop_) {
    set_timer();
    epoll_event events[64];
    const int count = ::epoll_wait(poll_.get(), events, std::size(events), -1);
    if (count < 0 && errno != EINTR) return;
    for (int i = 0; i < count; ++i) {
      const std::uint64_t tag = events[i].data.u64;
      if (tag == kWakeupTag) {
        drain(wakeup_.get());
        drain_inputs();
      } else if (tag == kTimerTag) {
        drain(timer_.get());
      } else {
        slots_[tag].node->dispatch(now());
        update_schedule(tag);
      }
    }
    dispatch_due();
  }
}

void NodeHost::drain_inputs() {
  std::vector<Input> inputs;
  {
    const std::lock_guard lock(mutex_);
    inputs.swap(inputs_);
  }
  for (const Input& input : inputs) {
    const ToNode* message = std::get_if<ToNode>(&input);
    if (!message) {
      for (std::size_t index = 0; index < slots_.size(); ++index) handle(index, input);
    } else if (auto it = by_name_.find(message->node); it != by_name_.end()) {
      handle(it->second, input);
    }
  }
}

void NodeHost::handle(std::size_t index, const Input& input) {
  node::NodeAgent& agent = slots_[index].node->agent();
  struct Handler {
    node::NodeAgent& to;
    void operator()(Connected) const { to.connected(now()); }
    void operator()(Disconnected) const { to.disconnected(); }
    void operator()(const ToNode& message) const { to.receive(message, now()); }
    void operator()(const GpusLookedAt& seen) const { to.gpus_looked_at(seen.look, now()); }
    void operator()(const Health& health) const { to.set_health(health.unhealthy, now()); }
  };
  std::visit(Handler{agent}, input);
  update_schedule(index);
}

void NodeHost::update_schedule(std::size_t index) {
  Slot& slot = slots_[index];
  const std::optional<BootTime> next = slot.node->next_deadline();
  if (slot.scheduled != next) {
    if (slot.scheduled) due_.erase({*slot.scheduled, index});
    slot.scheduled = next;
    if (next) due_.emplace(*next, index);
  }
  const std::string refused = slot.node->agent().refused().value_or("");
  if (refused == slot.refused) return;
  slot.refused = refused;
  if (!refused.empty() && on_refused_) on_refused_(slot.name, refused);
}

void NodeHost::dispatch_due() {
  const node::Moment moment = now();
  std::vector<std::size_t> indices;
  for (const auto& [time, index] : due_) {
    if (time > moment.boot) break;
    indices.push_back(index);
  }
  for (std::size_t index : indices) {
    slots_[index].node->dispatch(now());
    update_schedule(index);
  }
}

void NodeHost::set_timer() {
  itimerspec when{};
  if (!due_.empty()) {
    const auto us = std::max<std::int64_t>(1, due_.begin()->first.time_since_epoch().count());
    when.it_value.tv_sec = us / 1'000'000;
    when.it_value.tv_nsec = us % 1'000'000 * 1000;
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace ares::aresd
