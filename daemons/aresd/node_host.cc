#include "aresd/node_host.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <spdlog/spdlog.h>

#include "os/clock.h"

namespace ares::aresd {
namespace {

constexpr std::uint64_t kWakeupTag = ~0ULL;
constexpr std::uint64_t kTimerTag = kWakeupTag - 1;
constexpr std::uint64_t kPluginTag = kTimerTag - 1;

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

NodeHost::~NodeHost() = default;

Result<std::unique_ptr<NodeHost>> NodeHost::make(const ares_exec_plugin& plugin,
                                                 const std::string& options, int stop_fd) {
  std::unique_ptr<NodeHost> self(new NodeHost(stop_fd));
  auto opened = exec::OpenPlugin::open(plugin, options, *self);
  if (!opened) return fail(opened.error());
  self->plugin_ = std::move(*opened);
  self->poll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  self->wakeup_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  self->timer_.reset(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!self->poll_ || !self->wakeup_ || !self->timer_)
    return fail(os::errno_error("cannot set up the event loop"));
  watch(self->poll_.get(), self->wakeup_.get(), kWakeupTag);
  watch(self->poll_.get(), self->timer_.get(), kTimerTag);
  if (const int fd = self->plugin_->event_fd(); fd >= 0) watch(self->poll_.get(), fd, kPluginTag);
  return self;
}

void NodeHost::add(const std::string& name, std::unique_ptr<HostedNode> node) {
  std::size_t index = slots_.size();
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  node->on_event([this, index] { touched_.push_back(index); });
  node->on_output([this, index](const node::OutputPart& part) {
    on_output_(slots_[index].name, slots_[index].node->agent().incarnation(), part);
  });
  slots_[index] = {.name = name, .node = std::move(node)};
  by_name_.emplace(name, index);
  if (connected_) slots_[index].node->agent().connected(now());
  update_schedule(index);
}

void NodeHost::remove(std::size_t index) {
  Slot& slot = slots_[index];
  if (slot.scheduled) due_.erase({*slot.scheduled, index});
  by_name_.erase(slot.name);
  slot = {};
  free_.push_back(index);
}

void NodeHost::put(Input input) {
  bool first = false;
  {
    const Lock lock(mutex_);
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

void NodeHost::say(const std::string& text) {
  spdlog::info("{}", text);
}

void NodeHost::failed(const std::string& why) {
  if (failure_) failure_ = fail(ErrorCode::failed_precondition, why);
}

Status NodeHost::run() {
  while (!stop_ && failure_) {
    apply_found();  // a plugin tells of nodes during any call
    set_timer();
    epoll_event events[64];
    const int count = ::epoll_wait(poll_.get(), events, std::size(events), -1);
    if (count < 0 && errno != EINTR) return {};
    for (int i = 0; i < count; ++i) {
      const std::uint64_t tag = events[i].data.u64;
      if (tag == kWakeupTag) {
        drain(wakeup_.get());
        drain_inputs();
      } else if (tag == kTimerTag) {
        drain(timer_.get());
      } else if (tag == kPluginTag) {
        dispatch_plugin();
      }
    }
    if (failure_) dispatch_due();
  }
  return failure_;
}

// --- the plugin and the nodes that it finds -----------------------------------------------------

void NodeHost::dispatch_plugin() {
  plugin_->dispatch(now());
}

void NodeHost::apply_found() {
  for (const auto& told : std::exchange(found_, {}))
    std::visit([this](const auto& what) { apply(what); }, told);
}

void NodeHost::apply(const exec::FoundNode& found) {
  auto it = by_name_.find(found.name);
  if (it != by_name_.end() && slots_[it->second].identity != found.identity) {
    // What ran under the earlier identity has ended: the controller learns that from the new one.
    if (slots_[it->second].identity.empty())
      return;  // a configured node; the plugin must not have it
    remove(it->second);
    it = by_name_.end();
  }
  if (it == by_name_.end()) {
    auto node = make_ ? make_(found) : fail(ErrorCode::failed_precondition, "no nodes are taken");
    if (!node) return;
    (*node)->agent().set_health(found.problem, now());  // before it registers
    (*node)->agent().set_machine_gone(found.is_gone, now());
    add(found.name, std::move(*node));
    it = by_name_.find(found.name);
    slots_[it->second].identity = found.identity;
  }
  slots_[it->second].removed = false;
  node::NodeAgent& agent = slots_[it->second].node->agent();
  agent.set_health(found.problem, now());  // first: the inventory makes it register again
  agent.set_machine_gone(found.is_gone, now());
  agent.set_inventory(found.inventory, now());
  update_schedule(it->second);
}

void NodeHost::apply(const Removed& removed) {
  const auto it = by_name_.find(removed.name);
  if (it == by_name_.end() || slots_[it->second].identity.empty()) return;
  slots_[it->second].removed = true;
  slots_[it->second].node->agent().set_health(removed.why, now());
  remove_if_empty(it->second);
}

void NodeHost::remove_if_empty(std::size_t index) {
  if (slots_[index].removed && slots_[index].node->agent().attempts().empty()) remove(index);
}

// --- the loop -----------------------------------------------------------------------------------

void NodeHost::drain_inputs() {
  std::vector<Input> inputs;
  {
    const Lock lock(mutex_);
    inputs.swap(inputs_);
  }
  for (const Input& input : inputs) {
    if (std::holds_alternative<Connected>(input)) connected_ = true;
    if (std::holds_alternative<Disconnected>(input)) connected_ = false;
    if (const auto* taken = std::get_if<OutputTaken>(&input)) {
      plugin_->take_output(taken->taken);
      continue;
    }
    if (const auto* stored = std::get_if<OutputStored>(&input)) {
      if (const auto it = by_name_.find(stored->node); it != by_name_.end())
        slots_[it->second].node->output_stored(stored->stored);
      continue;
    }
    const ToNode* message = std::get_if<ToNode>(&input);
    if (!message) {
      // What was looked at is this machine, which nodes that the plugin finds are not part of.
      const bool of_machine =
          std::holds_alternative<Health>(input) || std::holds_alternative<GpusLookedAt>(input);
      for (std::size_t index = 0; index < slots_.size(); ++index)
        if (slots_[index].node && !(of_machine && !slots_[index].identity.empty()))
          handle(index, input);
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
    // Not for an agent.
    void operator()(const OutputTaken&) const {}
    void operator()(const OutputStored&) const {}
  };
  std::visit(Handler{agent}, input);
  update_schedule(index);
  remove_if_empty(index);
}

void NodeHost::update_schedule(std::size_t index) {
  Slot& slot = slots_[index];
  const std::optional<BootTime> next = slot.node->agent().next_deadline();
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
  if (const auto at = plugin_->next_deadline(); at && *at <= moment.boot) dispatch_plugin();
  if (!failure_) return;  // another process may serve the nodes
  std::vector<std::size_t> indices;
  for (const auto& [time, index] : due_) {
    if (time > moment.boot) break;
    indices.push_back(index);
  }
  for (std::size_t index : indices) {
    if (!slots_[index].node) continue;
    slots_[index].node->agent().tick(now());
    update_schedule(index);
  }
  for (const std::size_t index : std::exchange(touched_, {}))
    if (slots_[index].node) update_schedule(index);
}

void NodeHost::set_timer() {
  itimerspec when{};
  std::optional<BootTime> next = plugin_->next_deadline();
  if (!due_.empty() && (!next || due_.begin()->first < *next)) next = due_.begin()->first;
  if (next) {
    const auto us = std::max<std::int64_t>(1, next->time_since_epoch().count());
    when.it_value.tv_sec = us / 1'000'000;
    when.it_value.tv_nsec = us % 1'000'000 * 1000;
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace ares::aresd
