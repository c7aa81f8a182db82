#include "aresstepd/fork_server.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "aresstepd/ready_supervisor.h"
#include "os/clock.h"
#include "os/namespace.h"
#include "os/sockets/passing.h"

namespace ares::stepd {
namespace {

// Supervisors that wait: as many as jobs have begun at about the same time.
constexpr std::size_t kFewest = 2;
constexpr std::size_t kMost = 32;
constexpr Duration kShrinkAfter = std::chrono::seconds(10);
// A supervisor that has not taken its attempt by then does not run; aresd starts another one.
constexpr Duration kTakes = std::chrono::seconds(30);
constexpr Duration kForkAgain = std::chrono::seconds(1);
constexpr Duration kTidyAgain = std::chrono::milliseconds(20);

void complain(const std::string& what) {
  std::fprintf(stderr, "aresstepd: %s\n", what.c_str());
}

}  // namespace

Status ForkServer::run() {
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  sigset_t blocked = children;
  // These end an aresd, which closes the socket then.
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  ends_.reset(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!ends_) return fail(os::errno_error("cannot set up the event loop of the fork server"));
  groups_.remove_left();
  wanted_ = kFewest;
  changed_at_ = os::boot_now();
  while (open()) {
    prepare_more();
    wait_for_events();
    adapt_number();
    tidy();
  }
  return {};
}

std::size_t ForkServer::waiting() const {
  return static_cast<std::size_t>(std::count_if(
      children_.begin(), children_.end(),
      [](const auto& entry) { return entry.second.socket && !entry.second.assigned_at; }));
}

void ForkServer::wait_for_events() {
  std::vector<pollfd> sources{{aresd_.get(), POLLIN, 0}, {ends_.get(), POLLIN, 0}};
  std::vector<pid_t> pids;
  for (const auto& [pid, child] : children_) {
    if (!child.socket) continue;
    sources.push_back({child.socket.get(), POLLIN, 0});
    pids.push_back(pid);
  }
  const bool busy = !left_groups_.empty();
  const bool changes = wanted_ > kFewest || waiting() < wanted_ || pids.size() > waiting();
  // Processes that have been killed for longer than that may take any time to end.
  const bool soon = busy && os::boot_now() < left_since_ + kForkAgain;
  const Duration pause = soon ? kTidyAgain : kForkAgain;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(pause).count();
  if (::poll(sources.data(), sources.size(), busy || changes ? static_cast<int>(ms) : -1) <= 0)
    return;
  for (std::size_t i = 0; i < pids.size(); ++i)
    if (sources[i + 2].revents != 0)
      if (const auto it = children_.find(pids[i]); it != children_.end())
        hear(it->first, it->second);
  if (sources[1].revents != 0) reap();
  if (sources[0].revents != 0) serve_aresd();
}

void ForkServer::serve_aresd() {
  for (;;) {
    Result<os::Passed> packet = os::receive_passed(aresd_.get());
    if (!packet && packet.error().code == ErrorCode::unavailable) return;
    if (!packet && packet.error().code == ErrorCode::not_found) return aresd_.reset();
    const Result<node::LaunchRequest> request =
        packet ? node::decode_launch_request(packet->text) : fail(packet.error());
    if (request && packet->fd)
      launch(*request, std::move(packet->fd));
    else
      answer({0, 0, request ? "a launch request without a channel" : request.error().message});
  }
}

// The channel is closed here in any case: its end tells aresd that the supervisor has ended.
void ForkServer::launch(const node::LaunchRequest& request, os::Fd channel) {
  Result<pid_t> pid = hand_over(request, channel);
  if (*pid == 0) {
    none_was_ready_ = true;
    pid = fork_for(request, channel);
  }
  channel.reset();
  if (!pid) return answer({request.number, 0, pid.error().message});
  answer({request.number, *pid, {}});
}

// Returns 0 if no supervisor waits. One that is still being prepared finds the attempt when it is.
pid_t ForkServer::hand_over(const node::LaunchRequest& request, const os::Fd& channel) {
  const std::string packet = encode(request);
  for (const bool ready : {true, false}) {
    if (!ready) none_was_ready_ = true;
    for (auto& [pid, child] : children_) {
      if (!child.socket || child.assigned_at || child.ready != ready) continue;
      if (os::pass(child.socket.get(), packet, channel.get())) {
        child.assigned_at = os::boot_now();
        return pid;
      }
      child.socket.reset();  // it has ended
    }
  }
  return 0;
}

Result<pid_t> ForkServer::fork_for(const node::LaunchRequest& request, os::Fd& channel) {
  const pid_t pid = os::fork_with(0);
  if (pid < 0) return fail(os::errno_error("cannot fork a supervisor"));
  if (pid == 0) supervise_now(request, std::move(channel), ipc_);
  children_[pid].assigned_at = os::boot_now();
  return pid;
}

void ForkServer::answer(const node::LaunchAnswer& answer) {
  const os::Fd process(answer.pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, answer.pid, 0))
                                      : -1);
  // aresd reads its answers. One that does not for this long loses this server.
  if (!os::pass(aresd_.get(), encode(answer), process.get())) aresd_.reset();
}

void ForkServer::hear(pid_t pid, Child& child) {
  const Result<os::Passed> packet = os::receive_passed(child.socket.get());
  if (!packet) {
    if (packet.error().code != ErrorCode::unavailable) child.socket.reset();
    return;
  }
  child.ready = true;
  if (packet->text == kReady || packet->text == complaint_) return;
  complaint_ = packet->text;
  complain("process " + std::to_string(pid) + ": " + complaint_ + "; it prepares nothing ahead");
}

void ForkServer::reap() {
  signalfd_siginfo info;
  while (::read(ends_.get(), &info, sizeof info) == sizeof info) {
  }
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (WIFSTOPPED(status)) {
      // It would keep an attempt waiting. One that has taken its attempt stays stopped.
      if (const auto it = children_.find(pid); it != children_.end() && it->second.socket)
        ::kill(pid, SIGKILL);
      continue;
    }
    children_.erase(pid);
    if (status == 0) continue;
    left_groups_.push_back(pid);
    left_since_ = os::boot_now();
  }
}

void ForkServer::tidy() {
  std::erase_if(left_groups_, [this](pid_t pid) { return groups_.remove(pid); });
  const BootTime now = os::boot_now();
  for (auto& [pid, child] : children_)
    if (child.socket && child.assigned_at && now >= *child.assigned_at + kTakes) {
      complain("process " + std::to_string(pid) + " did not take its attempt and is killed");
      ::kill(pid, SIGKILL);
      child.socket.reset();
    }
}

void ForkServer::adapt_number() {
  const BootTime now = os::boot_now();
  if (none_was_ready_) {
    wanted_ = std::min(2 * wanted_, kMost);
  } else if (wanted_ > kFewest && now >= changed_at_ + kShrinkAfter) {
    wanted_ = std::max(wanted_ / 2, kFewest);
  } else {
    return;
  }
  none_was_ready_ = false;
  changed_at_ = now;
  std::size_t surplus = std::max(waiting(), wanted_) - wanted_;
  for (auto it = children_.begin(); it != children_.end() && surplus > 0; ++it) {
    Child& child = it->second;
    if (!child.socket || child.assigned_at) continue;
    child.socket.reset();  // it ends
    --surplus;
  }
}

void ForkServer::prepare_more() {
  if (!open() || os::boot_now() < fork_again_at_) return;
  for (std::size_t number = waiting(); number < wanted_; ++number) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) break;
    os::Fd ours(pair[0]), theirs(pair[1]);
    const pid_t pid = os::fork_with(0);
    if (pid == 0) wait_for_attempt(std::move(theirs), groups_, ipc_);
    if (pid < 0) {
      fork_again_at_ = os::boot_now() + kForkAgain;
      return;
    }
    children_[pid].socket = std::move(ours);
  }
}

}  // namespace ares::stepd
