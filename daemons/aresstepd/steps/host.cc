#include "aresstepd/steps/host.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>

#include "aresstepd/steps/script_errors.h"
#include "auth/shared_key.h"
#include "node/records.h"
#include "os/clock.h"
#include "os/sockets/passing.h"
#include "steps/socket_name.h"
#include "steps/task_environment.h"

namespace ares::stepd {
namespace {

using steps::Frame;
using steps::FrameKind;

// Without clients and tasks for so long it ends, so that jobs of a few steps keep no process.
constexpr int kIdleMs = 10'000;
// How often it looks what running tasks have used; the node tells that with its heartbeats.
constexpr Duration kUsagePeriod = std::chrono::seconds(5);

std::vector<steps::JobNode> job_nodes(const node::StepSpec& spec) {
  const NodeLayout& layout = *spec.launch.layout;
  std::vector<steps::JobNode> nodes;
  for (std::size_t i = 0; i < layout.names.size(); ++i)
    nodes.push_back({layout.names[i], i < layout.cpus.size() ? layout.cpus[i] : 0,
                     i < layout.tasks.size() ? layout.tasks[i] : 0,
                     i < layout.gpus.size() ? layout.gpus[i] : 0});
  return nodes;
}

std::vector<steps::StepNumber> take_due(std::map<steps::StepNumber, BootTime>& times,
                                        BootTime now) {
  std::vector<steps::StepNumber> due;
  for (const auto& [step, at] : times)
    if (at <= now) due.push_back(step);
  for (const steps::StepNumber step : due) times.erase(step);
  return due;
}

}  // namespace

StepHost::StepHost(HostFacts facts, StepRecords records, os::Fd listener, StepLedger ledger,
                   std::unique_ptr<Reactor> reactor)
    : facts_(std::move(facts)),
      records_(std::move(records)),
      listener_(std::move(listener)),
      reactor_(std::move(reactor)),
      hold_(facts_.spec.allocation_timeout),
      ledger_(std::move(ledger)) {}

StepHost::~StepHost() = default;

Result<std::unique_ptr<StepHost>> StepHost::make(HostFacts facts, StepRecords records,
                                                 os::Fd listener, StepLedger ledger) {
  Result<std::unique_ptr<Reactor>> reactor = Reactor::make();
  if (!reactor) return fail(reactor.error());
  std::unique_ptr<StepHost> host(new StepHost(std::move(facts), std::move(records),
                                              std::move(listener), std::move(ledger),
                                              std::move(*reactor)));
  if (Status prepared = host->prepare(); !prepared) return fail(prepared.error());
  return host;
}

Status StepHost::prepare() {
  // Signals to all processes of a job reach its tasks by themselves. Only the end of the job ends this one.
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  sigset_t handled;
  ::sigemptyset(&handled);
  ::sigaddset(&handled, SIGCHLD);
  ::sigaddset(&handled, SIGTERM);
  signals_.reset(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return fail(os::errno_error("cannot receive signals"));
  reactor_->watch(signals_.get(), EPOLLIN, [this](std::uint32_t) {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof info) == sizeof info)
      if (info.ssi_signo == SIGTERM) ending_ = true;
    collect_children();
  });
  reactor_->watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_one(); });

  if (facts_.spec.launch.rank == 0)
    manager_ = std::make_unique<steps::StepManager>(job_nodes(facts_.spec),
                                                    static_cast<steps::StepLinks&>(*this));
  return {};
}

Status StepHost::run() {
  BootTime busy_at = os::boot_now();
  for (;;) {
    const int wait = do_what_is_due(os::boot_now());
    if (Status turned = reactor_->turn(is_idle() ? kIdleMs : wait); !turned) return turned;
    release_if_due();
    // Who only looks on or holds the allocation does not make the end of the job wait.
    if (ending_ && !runs_tasks()) return {};
    const BootTime now = os::boot_now();
    if (!is_idle())
      busy_at = now;
    else if (now - busy_at >= std::chrono::milliseconds(kIdleMs))
      return {};
  }
}

bool StepHost::runs_tasks() const {
  return !members_.empty() || !strangers_.empty() ||
         std::any_of(clients_.begin(), clients_.end(), [](const auto& client) {
           return client.second.group || client.second.dialer || client.second.onward;
         });
}

bool StepHost::is_idle() const {
  return clients_.empty() && members_.empty() && strangers_.empty();
}

int StepHost::do_what_is_due(BootTime now) {
  for (const steps::StepNumber step : take_due(limits_, now)) manager_->time_out(step);
  for (const steps::StepNumber step : take_due(kills_, now)) manager_->kill(step);
  std::vector<TaskGroup*> groups;
  for (const auto& [key, member] : members_)
    if (member.here) groups.push_back(member.here.get());
  for (const auto& [id, connection] : clients_)
    if (connection.group) groups.push_back(connection.group.get());
  std::optional<BootTime> next;
  if (!groups.empty()) {
    if (tell_usage_at_ <= now) {
      for (TaskGroup* group : groups) group->tell_usage();
      tell_usage_at_ = now + kUsagePeriod;
    }
    next = tell_usage_at_;
  }
  for (const auto* times : {&kills_, &limits_})
    for (const auto& [step, at] : *times) next = std::min(next.value_or(at), at);
  if (const std::optional<BootTime> at = hold_.deadline()) next = std::min(next.value_or(*at), *at);
  if (!next) return -1;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - now);
  return static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, 3'600'000));
}

void StepHost::accept_one() {
  os::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  // The file's mode lets in no other user; root may look into any job.
  if (peer.uid != 0 && peer.uid != ::geteuid()) return;
  const int fd = socket.get();
  strangers_[fd] = {std::move(socket), peer.uid};
  reactor_->watch(fd, EPOLLIN, [this, fd](std::uint32_t) { meet(fd); });
}

// The node daemon hands over the connection of another node; arun speaks for itself.
void StepHost::meet(int fd) {
  Result<os::Passed> first = os::receive_passed(fd);
  if (!first && first.error().code == ErrorCode::unavailable) return;
  reactor_->forget(fd);
  Stranger stranger = std::move(strangers_.at(fd));
  strangers_.erase(fd);
  if (!first) return;
  if (first->fd && first->text == steps::kHandedOver)
    add_connection(std::move(first->fd), {}, false);
  else
    add_connection(std::move(stranger.socket), first->text, stranger.uid == 0 || !facts_.by_root);
}

void StepHost::add_connection(os::Fd socket, std::string_view bytes, bool of_daemon) {
  const steps::ClientId id = next_client_++;
  FrameLink::Events events;
  events.received = [this, id](const Frame& frame) { received(id, frame); };
  events.closed = [this, id](const std::string&) {
    reactor_->post([this, id] { close_connection(id); });  // not within its own call
  };
  // Who does not read what the tasks write makes them wait; the tasks of other steps go on.
  events.congested = [this, id](bool congested) {
    const auto it = clients_.find(id);
    if (it == clients_.end()) return;
    if (!congested) tell_missed(it->second);
    if (it->second.group) it->second.group->pause_output(congested);
    if (it->second.onward) it->second.onward->pause_reading(congested);
    for (const auto& [key, member] : members_)
      if (manager_ && manager_->client_of(key.first) == id) pause_sources(key.first, congested);
  };
  clients_[id].link =
      std::make_unique<FrameLink>(std::move(socket), *reactor_, std::move(events), bytes);
  clients_[id].of_daemon = of_daemon;
}

void StepHost::received(steps::ClientId id, const Frame& frame) {
  const auto it = clients_.find(id);
  if (it == clients_.end()) return;
  Connection& connection = it->second;
  if (frame.kind == FrameKind::launch && !connection.group && !connection.relayed)
    connection.group = std::make_unique<TaskGroup>(
        facts_, records_, *reactor_,
        [link = connection.link.get()](FrameKind kind, std::uint32_t number,
                                       std::string_view payload) {
          link->send(kind, number, payload);
        });
  if (connection.group) return connection.group->receive(frame);
  if (frame.kind == FrameKind::cancel) {
    // The job's user and root alone can connect, and may end any step.
    if (auto cancel = steps::decode_cancel(frame.payload); cancel && manager_) {
      if (!connection.of_daemon) cancel->by = UserId(::geteuid());
      manager_->cancel(*cancel);
    }
    return close_client(id);
  }
  if (frame.kind == FrameKind::notify) {
    const Status told = tell_script(frame.payload);
    to_client(id, {FrameKind::notified, 0, told ? std::string() : told.error().message});
    return close_client(id);
  }
  if (frame.kind == FrameKind::limit && manager_) {
    const Status set = change_limit(frame);
    to_client(id, {FrameKind::limited, 0, set ? std::string() : set.error().message});
    return close_client(id);
  }
  if (manager_ && about_job(id, frame)) return;
  if (manager_) return manager_->from_client(id, frame);
  relay(id, frame);
}

Status StepHost::tell_script(const std::string& line) const {
  if (!manager_) return fail(ErrorCode::failed_precondition, "its script runs on another node");
  if (hold_.has_script())
    return fail(ErrorCode::failed_precondition,
                "it is an allocation of aalloc or arun, without a script that writes to a file");
  return add_to_errors(facts_.spec, line);
}

Status StepHost::change_limit(const Frame& frame) {
  std::uint32_t seconds = 0;
  const std::string& text = frame.payload;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(ErrorCode::invalid_argument, "the time limit is not a number of seconds");
  return manager_->set_limit(frame.number, Seconds(seconds));
}

bool StepHost::about_job(steps::ClientId id, const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::describe: {
      std::string text;
      for (const std::string& variable :
           steps::outside_environment(facts_.spec, facts_.directory, facts_.started_at))
        text += variable + '\0';
      to_client(id, {FrameKind::described, 0, text});
      return true;
    }
    case FrameKind::hold: hold_.script_waits(id, frame.number != 0, os::boot_now()); break;
    case FrameKind::keep:
      hold_.command_holds(id);
      to_client(id, {FrameKind::kept, 0, {}});
      break;
    case FrameKind::release:
      if (const auto code = hold_.command_releases(id, frame.number))
        to_client(id, {FrameKind::released, *code, {}});
      break;
    default: return false;
  }
  release_if_due();
  return true;
}

void StepHost::release_if_due() {
  const auto release = hold_.due(os::boot_now());
  if (!release) return;
  to_client(release->script, {FrameKind::released, release->code, release->why});
  if (release->command) to_client(*release->command, {FrameKind::released, release->code, {}});
}

// arun runs on another node than the first, where the steps of the job are created.
void StepHost::relay(steps::ClientId id, const Frame& frame) {
  Connection& connection = clients_.at(id);
  if (connection.onward) return connection.onward->send(frame);
  connection.waiting.push_back(frame);
  if (std::exchange(connection.relayed, true)) return;
  connection.dialer =
      dial(0, [this, id](Result<os::Fd> socket) { relay_connected(id, std::move(socket)); });
}

void StepHost::relay_connected(steps::ClientId id, Result<os::Fd> socket) {
  const auto it = clients_.find(id);
  if (it == clients_.end()) return;
  Connection& connection = it->second;
  if (!socket) {
    connection.link->send(FrameKind::refused, 0,
                          "cannot reach the first node of the job: " + socket.error().message);
    return connection.link->close_when_sent();
  }
  FrameLink::Events events;
  events.received = [this, id](const Frame& frame) {
    if (const auto from = clients_.find(id); from != clients_.end()) from->second.link->send(frame);
  };
  events.closed = [this, id](const std::string&) { close_client(id); };
  events.congested = [this, id](bool congested) {
    if (const auto from = clients_.find(id); from != clients_.end())
      from->second.link->pause_reading(congested);
  };
  connection.onward = std::make_unique<FrameLink>(std::move(*socket), *reactor_, std::move(events));
  for (const Frame& frame : std::exchange(connection.waiting, {})) connection.onward->send(frame);
}

void StepHost::close_connection(steps::ClientId id) {
  clients_.erase(id);
  hold_.client_lost(id, os::boot_now());
  if (manager_) manager_->client_lost(id);
}

std::unique_ptr<Dialer> StepHost::dial(std::uint32_t node, Dialer::Done done) {
  const LaunchSpec& launch = facts_.spec.launch;
  steps::Dial dial;
  dial.attempt = node::directory_name(launch.attempt);
  dial.fence = launch.fence;
  dial.from = launch.rank;
  dial.to = node;
  const std::string address =
      node < launch.step_addresses.size() ? launch.step_addresses[node] : std::string();
  return std::make_unique<Dialer>(*reactor_, address, std::move(dial), launch.step_key,
                                  std::move(done));
}

void StepHost::pause_sources(steps::StepNumber step, bool pause) {
  for (auto& [key, member] : members_) {
    if (key.first != step) continue;
    if (member.here) member.here->pause_output(pause);
    // The link itself is read on: an exchange of MPI must not wait for a reader of output.
    if (member.there) member.there->send(FrameKind::output_full, pause ? 1 : 0, {});
  }
}

void StepHost::collect_children() {
  int status = 0;
  rusage used{};
  for (pid_t pid = 0; (pid = ::wait4(-1, &status, WNOHANG, &used)) > 0;) {
    for (auto& [key, member] : members_)
      if (member.here && member.here->ended(pid, status, used)) break;
    for (auto& [id, connection] : clients_)
      if (connection.group && connection.group->ended(pid, status, used)) break;
  }
}

void StepHost::to_client(steps::ClientId client, const Frame& frame) {
  const auto it = clients_.find(client);
  if (it == clients_.end()) return;
  if (frame.kind == FrameKind::over) tell_missed(it->second);
  it->second.link->send(frame);
}

void StepHost::tell_missed(Connection& viewer) {
  if (viewer.missed == 0) return;
  const std::uint64_t bytes = std::exchange(viewer.missed, 0);
  viewer.link->send(FrameKind::lost,
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX)), {});
}

void StepHost::to_viewer(steps::ClientId viewer, const Frame& frame) {
  const auto it = clients_.find(viewer);
  if (it == clients_.end()) return;
  if (it->second.link->congested())
    it->second.missed += frame.payload.size();
  else
    it->second.link->send(frame);
}

void StepHost::close_client(steps::ClientId client) {
  if (const auto it = clients_.find(client); it != clients_.end())
    it->second.link->close_when_sent();
}

Result<steps::StepNumber> StepHost::new_number() {
  return records_.new_number();
}

std::string StepHost::name_of(steps::StepNumber step) {
  constexpr std::size_t kSecretBytes = 12;
  return "ares-" + std::to_string(facts_.spec.launch.own_id.value()) + "." + std::to_string(step) +
         "-" + auth::to_hex(auth::random_bytes(kSecretBytes));
}

void StepHost::open_node(steps::StepNumber step, std::uint32_t node) {
  Member& member = members_[{step, node}];
  if (node == facts_.spec.launch.rank) {
    // Posted, because the manager must not be called from within its own calls.
    member.here = std::make_unique<TaskGroup>(
        facts_, records_, *reactor_,
        [this, step, node](FrameKind kind, std::uint32_t number, std::string_view payload) {
          if (kind == FrameKind::output || kind == FrameKind::errors) {
            if (const std::optional<steps::ClientId> client = manager_->client_of(step))
              if (const auto it = clients_.find(*client); it != clients_.end())
                it->second.link->send(kind, number, payload);
            if (const auto& viewers = manager_->viewers_of(step); !viewers.empty()) {
              const Frame frame{kind, number, std::string(payload)};
              for (const steps::ClientId viewer : viewers) to_viewer(viewer, frame);
            }
            return;
          }
          reactor_->post([this, step, node, frame = Frame{kind, number, std::string(payload)}] {
            manager_->from_node(step, node, frame);
          });
        });
    return;
  }
  member.dialer = dial(node, [this, step, node](Result<os::Fd> socket) {
    member_connected({step, node}, std::move(socket));
  });
}

void StepHost::member_connected(const MemberKey& key, Result<os::Fd> socket) {
  const auto it = members_.find(key);
  if (it == members_.end()) return;
  if (!socket) return member_lost(key, socket.error().message);
  FrameLink::Events events;
  events.received = [this, key](const Frame& frame) {
    manager_->from_node(key.first, key.second, frame);
  };
  events.closed = [this, key](const std::string& why) { member_lost(key, why); };
  it->second.there = std::make_unique<FrameLink>(std::move(*socket), *reactor_, std::move(events));
  for (const Frame& frame : std::exchange(it->second.waiting, {})) it->second.there->send(frame);
}

// Posted, because the manager then destroys what calls this.
void StepHost::member_lost(const MemberKey& key, const std::string& why) {
  reactor_->post([this, key, why] { manager_->node_lost(key.first, key.second, why); });
}

void StepHost::to_node(steps::StepNumber step, std::uint32_t node, const Frame& frame) {
  const auto it = members_.find({step, node});
  if (it == members_.end()) return;
  if (it->second.there) return it->second.there->send(frame);
  if (it->second.dialer) return it->second.waiting.push_back(frame);
  if (it->second.here)
    reactor_->post([this, step, node, frame] {
      const auto member = members_.find({step, node});
      if (member != members_.end() && member->second.here) member->second.here->receive(frame);
    });
}

void StepHost::close_node(steps::StepNumber step, std::uint32_t node) {
  kills_.erase(step);
  begun_.erase(step);
  limits_.erase(step);
  // Its destructor ends the tasks, and it may be what calls us.
  if (const auto it = members_.find({step, node}); it != members_.end())
    reactor_->post([member = std::make_shared<Member>(std::move(it->second))] {});
  members_.erase({step, node});
}

void StepHost::account(const steps::StepAccount& account) {
  steps::StepAccount known = account;
  // The end of the job is what ended it.
  if (ending_ && known.state == StepState::failed && known.worst.signal != 0)
    known.state = StepState::cancelled;
  ledger_.put(known, os::wall_now());
}

void StepHost::kill_later(steps::StepNumber step) {
  kills_.emplace(step, os::boot_now() + facts_.spec.launch.kill_wait);
}

void StepHost::limit_time(steps::StepNumber step, Seconds limit) {
  const BootTime begun = begun_.try_emplace(step, os::boot_now()).first->second;
  if (limit > Seconds(0))
    limits_[step] = begun + limit;
  else
    limits_.erase(step);
}

}  // namespace ares::stepd
