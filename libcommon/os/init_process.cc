#include "os/init_process.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include "os/descendants.h"
#include "os/fd.h"
#include "os/priority.h"
#include "os/sockets/passing.h"

namespace ares::os {
namespace {

constexpr std::size_t kLongestOrder = PATH_MAX;

// With the returned mask SIGCHLD interrupts ppoll(); elsewhere it is blocked.
sigset_t await_children() {
  sigset_t mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &mask, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGCHLD, &action, nullptr);
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  ::sigdelset(&mask, SIGCHLD);
  return mask;
}

struct Children {
  pid_t task = 0;
  pid_t beside = 0;
};

void reap(Children& children, int control) {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == children.task) send_packet(control, InitPacket::task_ended, status);
    if (pid != children.beside) continue;
    children.beside = 0;
    send_packet(control, InitPacket::beside_ended, status);
  }
}

struct Command {
  InitPacket packet{};
  Fd fd;
};

// None if the supervisor has ended.
std::optional<Command> receive_command(int control) {
  Result<Passed> received = fail(ErrorCode::unavailable, {});
  pollfd readable{control, POLLIN, 0};
  while (!received && received.error().code == ErrorCode::unavailable) {
    ::poll(&readable, 1, -1);
    received = receive_passed(control);
  }
  if (!received || received->text.size() != sizeof(InitPacket)) return std::nullopt;
  Command command{{}, std::move(received->fd)};
  std::memcpy(&command.packet, received->text.data(), sizeof command.packet);
  return command;
}

// Reaches all processes of the namespace but init. The kernel does it in one step, so that no process
// can escape by forking.
void stop_everything() {
  ::kill(-1, SIGSTOP);
}

// False if the supervisor has moved the timer since ppoll().
bool expired(int timer) {
  std::uint64_t times = 0;
  return ::read(timer, &times, sizeof times) == sizeof times;
}

struct Start {
  bool guards_lease = false;
  std::string order;
};

// None if the supervisor has ended.
std::optional<Start> receive_start(int control) {
  char bytes[sizeof(InitPacket) + kLongestOrder];
  ssize_t n = 0;
  while ((n = ::recv(control, bytes, sizeof bytes, 0)) < 0 && errno == EINTR) {
  }
  InitPacket packet{};
  if (n < static_cast<ssize_t>(sizeof packet)) return std::nullopt;
  std::memcpy(&packet, bytes, sizeof packet);
  if (packet.what != InitPacket::start_task) return std::nullopt;
  return Start{packet.value != 0, std::string(bytes + sizeof packet, bytes + n)};
}

void obey(const InitPacket& packet, pid_t task, int control) {
  switch (packet.what) {
    case InitPacket::signal_all: ::kill(-1, packet.value); break;
    case InitPacket::signal_task: ::kill(script_of(task), packet.value); break;
    case InitPacket::signal_others: signal_descendants(packet.value, task); break;
    case InitPacket::stop_all:
      stop_everything();
      send_packet(control, InitPacket::stopped);
      break;
    case InitPacket::start_task:
    case InitPacket::start_beside:
    case InitPacket::entered:
    case InitPacket::task_ended:
    case InitPacket::beside_ended:
    case InitPacket::stopped:
    case InitPacket::timer_stopped: break;
  }
}

}  // namespace

bool send_packet(int fd, InitPacket::What what, int value,
                 std::optional<std::chrono::milliseconds> patience) {
  InitPacket packet{};
  packet.what = what;
  packet.value = value;
  const int flags = MSG_NOSIGNAL | (patience ? MSG_DONTWAIT : 0);
  for (bool waited = false;; waited = true) {
    if (::send(fd, &packet, sizeof packet, flags) == sizeof packet) return true;
    if (errno != EAGAIN || !patience || waited) return false;
    pollfd writable{fd, POLLOUT, 0};
    ::poll(&writable, 1, static_cast<int>(patience->count()));
    errno = EAGAIN;
  }
}

std::optional<InitPacket> receive_packet(int fd, int flags) {
  InitPacket packet{};
  for (;;) {
    const ssize_t n = ::recv(fd, &packet, sizeof packet, flags);
    if (n == sizeof packet) return packet;
    if (n < 0 && errno == EINTR) continue;
    return std::nullopt;
  }
}

std::optional<InitPacket> wait_for_packet(int fd, int timeout_ms) {
  pollfd readable{fd, POLLIN, 0};
  int ready = 0;
  while ((ready = ::poll(&readable, 1, timeout_ms)) < 0 && errno == EINTR) {
  }
  return ready > 0 ? receive_packet(fd, 0) : std::nullopt;
}

bool send_start(int fd, bool guards_lease, const std::string& order) {
  if (order.size() > kLongestOrder) {
    errno = ENAMETOOLONG;
    return false;
  }
  InitPacket packet{};
  packet.what = InitPacket::start_task;
  packet.value = guards_lease ? 1 : 0;
  iovec parts[] = {{&packet, sizeof packet}, {const_cast<char*>(order.data()), order.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = std::size(parts);
  return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

bool send_start_beside(int fd, int passed) {
  InitPacket packet{};
  packet.what = InitPacket::start_beside;
  return pass(fd, {reinterpret_cast<const char*>(&packet), sizeof packet}, passed).has_value();
}

void run_init(const InitDuties& duties, const InitBodies& bodies) {
  const int control = duties.control;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // if the parent died before this line, `control` is closed
  ::prctl(PR_SET_NAME, "ares-init");
  ::setsid();
  const int error = enter_namespace(duties.kind, duties.ipc, duties.owner).error;
  std::vector<int> kept = duties.task;
  kept.insert(kept.end(), {control, duties.stop_timer});
  close_all_but(std::move(kept));
  if (duties.kind == NamespaceKind::unprivileged) send_packet(control, InitPacket::entered, error);
  const sigset_t while_waiting = await_children();

  const std::optional<Start> start = receive_start(control);
  if (!start) ::_exit(0);
  // Not before: kernels with RT_GROUP_SCHED let no real-time process enter a group of `cpu`.
  if (start->guards_lease) {
    (void)lock_memory();
    (void)raise_priority(Priority::realtime);
  }
  Children children;
  children.task = fork_with(0);
  if (children.task < 0) ::_exit(1);
  if (children.task == 0) {
    bodies.task(start->order);
    ::_exit(1);
  }
  for (const int fd : duties.task) ::close(fd);

  for (;;) {
    reap(children, control);
    pollfd ready[] = {{control, POLLIN, 0}, {duties.stop_timer, POLLIN, 0}};
    if (::ppoll(ready, std::size(ready), nullptr, &while_waiting) < 0) continue;  // SIGCHLD
    if (ready[1].revents != 0 && expired(duties.stop_timer)) {
      stop_everything();
      send_packet(control, InitPacket::timer_stopped);
    }
    if (ready[0].revents == 0) continue;
    const std::optional<Command> command = receive_command(control);
    if (!command) ::_exit(0);  // the supervisor has ended
    if (command->packet.what != InitPacket::start_beside) {
      obey(command->packet, children.task, control);
      continue;
    }
    if (children.beside != 0 || !command->fd) continue;
    children.beside = fork_with(0);
    if (children.beside == 0) {
      bodies.beside(start->order, command->fd.get());
      ::_exit(1);
    }
    if (children.beside > 0) continue;
    children.beside = 0;
    send_packet(control, InitPacket::beside_ended, 1 << 8);
  }
}

}  // namespace ares::os
