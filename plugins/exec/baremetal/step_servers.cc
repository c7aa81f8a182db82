#include "exec/baremetal/step_servers.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "exec/baremetal/spawn.h"
#include "node/launch_packet.h"
#include "os/clock.h"
#include "os/sockets/passing.h"

namespace ares::exec {
namespace {

constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(60);
// A server answers at once. One that is silent for this long does not run, and is killed.
constexpr Duration kAnswers = std::chrono::seconds(10);
constexpr int kEndsWithinMs = 1000;

void kill_process(const os::Fd& process) {
  ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
}

// Whether it had ended, and is reaped now.
bool reap(const os::Fd& process, int options) {
  siginfo_t info{};
  const int result = ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(process.get()),
                              &info, WEXITED | options);
  return result != 0 || info.si_pid != 0;
}

// By a signal.
bool is_stopped(const os::Fd& process) {
  siginfo_t info{};
  const int result = ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(process.get()),
                              &info, WSTOPPED | WNOHANG | WNOWAIT);
  return result == 0 && info.si_pid != 0;
}

}  // namespace

StepServers::StepServers(std::string stepd, std::vector<std::string> options)
    : stepd_(std::move(stepd)),
      options_(std::move(options)),
      poll_(::epoll_create1(EPOLL_CLOEXEC)),
      pause_(kFirstPause) {
  if (!start()) start_later();
}

StepServers::~StepServers() {
  for (Server& server : servers_) server.socket.reset();
  for (Server& server : servers_) {
    pollfd ended{server.process.get(), POLLIN, 0};
    if (::poll(&ended, 1, kEndsWithinMs) == 0) kill_process(server.process);
    reap(server.process, 0);
  }
}

std::optional<StepServers::Identity> StepServers::identify(const std::string& program) {
  struct stat info {};
  if (::stat(program.c_str(), &info) != 0) return std::nullopt;
  return Identity{info.st_dev, info.st_ino,
                  std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
                  info.st_size};
}

void StepServers::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event);
}

StepServers::Server* StepServers::current() {
  for (Server& server : servers_)
    if (server.socket && !server.replaced) return &server;
  return nullptr;
}

Status StepServers::start() {
  const std::optional<Identity> program = identify(stepd_);
  if (!program) return fail(os::errno_error("cannot use " + stepd_));
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(os::errno_error("cannot make a socket pair"));
  os::Fd ours(pair[0]), theirs(pair[1]);
  std::vector<std::string> command{stepd_};
  command.insert(command.end(), options_.begin(), options_.end());
  command.insert(command.end(), {"--serve", std::to_string(kPassedFd)});
  Result<os::Fd> process = spawn(std::move(command), theirs.get(), {});
  if (!process) return fail(process.error());
  watch(ours.get());
  watch(process->get());
  servers_.push_back({std::move(ours), std::move(*process), *program, {}, false, false});
  start_at_.reset();
  return {};
}

void StepServers::start_later() {
  start_at_ = os::boot_now() + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

// The server reads the requests that it has been sent, answers them, and ends.
void StepServers::replace(Server& server) {
  server.replaced = true;
  ::shutdown(server.socket.get(), SHUT_WR);
}

Status StepServers::launch(std::uint64_t number, const std::string& directory, int channel) {
  Server* server = current();
  // While the file is being replaced there may be none.
  const std::optional<Identity> program = server ? identify(stepd_) : std::nullopt;
  if (program && *program != server->program) {
    replace(*server);
    if (!start()) start_later();
    server = current();
  }
  if (server && is_stopped(server->process)) {
    kill_process(server->process);
    server->killed = true;
  }
  if (!server || server->killed)
    return fail(ErrorCode::unavailable, "no fork server of " + stepd_ + " runs");
  Status sent =
      os::pass(server->socket.get(), encode(node::LaunchRequest{number, directory}), channel);
  if (sent) server->requests.push_back({number, os::boot_now()});
  return sent;
}

std::vector<StepServers::Answer> StepServers::collect() {
  std::vector<Answer> answers;
  const BootTime now = os::boot_now();
  for (auto server = servers_.begin(); server != servers_.end();) {
    read_answers(*server, answers);
    if (!server->killed && !server->requests.empty() &&
        now >= server->requests.front().sent + kAnswers) {
      kill_process(server->process);
      server->killed = true;
    }
    if (!reap(server->process, WNOHANG)) {
      ++server;
      continue;
    }
    read_answers(*server, answers);
    lose(*server, answers);
    server = servers_.erase(server);
  }
  if (!current() && !start_at_) start_later();
  if (start_at_ && now >= *start_at_ && !start()) start_later();
  return answers;
}

void StepServers::read_answers(Server& server, std::vector<Answer>& answers) {
  while (server.socket) {
    Result<os::Passed> packet = os::receive_passed(server.socket.get());
    if (!packet && packet.error().code == ErrorCode::unavailable) return;
    const Result<node::LaunchAnswer> answer =
        packet ? node::decode_launch_answer(packet->text) : fail(packet.error());
    // One that refuses an attempt, or that we do not understand, is given no more.
    if (!answer || !answer->error.empty()) {
      lose(server, answers);
      continue;
    }
    pause_ = kFirstPause;
    const auto request = std::find_if(server.requests.begin(), server.requests.end(),
                                      [&](const Request& r) { return r.number == answer->number; });
    if (request == server.requests.end()) continue;
    server.requests.erase(request);
    answers.push_back({answer->number, std::move(packet->fd)});
  }
}

// It gets and answers no more requests. Those without an answer may have a supervisor or not.
void StepServers::lose(Server& server, std::vector<Answer>& answers) {
  server.socket.reset();
  for (const Request& request : std::exchange(server.requests, {}))
    answers.push_back({request.number, os::Fd()});
}

std::optional<BootTime> StepServers::next_deadline() const {
  std::optional<BootTime> earliest = start_at_;
  for (const Server& server : servers_)
    if (!server.requests.empty() && !server.killed) {
      const BootTime due = server.requests.front().sent + kAnswers;
      earliest = std::min(earliest.value_or(due), due);
    }
  return earliest;
}

}  // namespace ares::exec
