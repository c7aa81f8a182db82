#include "os/task_tree.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "base/clip.h"
#include "os/file.h"

namespace ares::os {
namespace {

constexpr std::uint64_t kIsolation = CLONE_NEWPID | CLONE_NEWNS;
constexpr int kAnswerTimeoutMs = 2000;

// fork() with clone3 flags, without libc's at-fork handlers: single-threaded programs can skip them.
pid_t fork_with(std::uint64_t flags, const Fd& cgroup = Fd()) {
  clone_args args{};
  args.flags = flags;
  args.exit_signal = SIGCHLD;
  if (cgroup) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<std::uint64_t>(cgroup.get());
  }
  return static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
}

// A packet between the supervisor and init.
struct Packet {
  char
      what;  // to init: 'f' fork the task, 's' signal everything, 't' signal the task, 'q' stop everything and answer with 'a';
             // from init: 'e' the task ended with status `value`, 'a' everything is stopped
  int value;
};

bool send_packet(int fd, char what, int value) {
  Packet packet{};
  packet.what = what;
  packet.value = value;
  return ::send(fd, &packet, sizeof packet, MSG_NOSIGNAL) == sizeof packet;
}

std::optional<Packet> receive_packet(int fd, int flags) {
  Packet packet{};
  for (;;) {
    const ssize_t n = ::recv(fd, &packet, sizeof packet, flags);
    if (n == sizeof packet) return packet;
    if (n < 0 && errno == EINTR) continue;
    return std::nullopt;
  }
}

TaskTree::TaskEnd end_of(int status) {
  TaskTree::TaskEnd end;
  if (WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
  else
    end.code = WEXITSTATUS(status);
  return end;
}

// Pids of our descendants, found by following the parents of each process in /proc.
std::set<pid_t> descendants() {
  std::map<pid_t, pid_t> parents;
  Result<std::vector<std::string>> entries = list_directory("/proc");
  if (!entries) return {};
  for (const std::string& entry : *entries) {
    const pid_t pid = std::atoi(entry.c_str());
    if (pid <= 0) continue;
    Result<std::string> stat = read_file("/proc/" + entry + "/stat");
    if (!stat) continue;
    const std::size_t paren = stat->rfind(')');
    char state = 0;
    int parent = 0;
    if (paren == std::string::npos ||
        std::sscanf(stat->c_str() + paren + 1, " %c %d", &state, &parent) != 2 || state == 'Z')
      continue;
    parents[pid] = parent;
  }
  const pid_t self = ::getpid();
  std::set<pid_t> result;
  for (const auto& [pid, parent] : parents) {
    pid_t at = parent;
    for (int depth = 0; at > 1 && at != self && depth < 4096; ++depth) {
      auto it = parents.find(at);
      at = it == parents.end() ? 0 : it->second;
    }
    if (at == self) result.insert(pid);
  }
  return result;
}

// Closes all descriptors except standard ones and `kept`: a copy of the gate's write end, of the
// lock or of a listening socket would survive the supervisor and make it look alive.
void keep_only(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned from = 3;
  for (int fd : kept) {
    const auto end = static_cast<unsigned>(fd);
    if (end > from) ::close_range(from, end - 1, 0);
    from = end + 1;
  }
  ::close_range(from, ~0U, 0);
}

void reset_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

bool can_isolate_processes() {
  const pid_t pid = fork_with(kIsolation);
  if (pid < 0) return false;
  if (pid == 0) ::_exit(0);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return true;
}

TaskTree::TaskTree(Body body, Isolation isolation, std::optional<Cgroup> cgroup)
    : body_(std::move(body)),
      isolation_(isolation),
      isolated_(isolation != Isolation::none),
      cgroup_(std::move(cgroup)) {}

TaskTree::~TaskTree() {
  if (first_ == 0 || gone_) return;
  kill_all();
  while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
}

Result<pid_t> TaskTree::spawn_gated() {
  int control[2] = {-1, -1};
  int gate[2];
  int failure[2];
  if (::pipe2(gate, O_CLOEXEC) != 0) return fail(errno_error("cannot make the task's gate"));
  gate_.reset(gate[1]);
  Fd gate_end(gate[0]);
  if (::pipe2(failure, O_CLOEXEC) != 0) return fail(errno_error("cannot make a pipe"));
  failure_.reset(failure[0]);
  Fd failure_end(failure[1]);
  if (isolated_ && ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
    return fail(errno_error("cannot make a socket pair"));
  control_.reset(control[0]);
  Fd control_end(control[1]);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);

  if (cgroup_ && !cgroup_->create()) cgroup_.reset();
  const Fd group = cgroup_ ? cgroup_->open_unified() : Fd();
  bool born_inside = static_cast<bool>(group);
  pid_t pid = fork_with(isolated_ ? kIsolation : 0, group);
  if (pid < 0 && born_inside) {  // Linux before 5.7, or the group refuses CLONE_INTO_CGROUP
    born_inside = false;
    pid = fork_with(isolated_ ? kIsolation : 0);
  }
  if (pid < 0 && isolation_ == Isolation::required)
    return fail(errno_error("cannot make a pid namespace, which a job under a lease needs"));
  if (pid < 0 && isolated_) {
    isolated_ = false;
    pid = fork_with(0);
  }
  if (pid < 0) return fail(errno_error("cannot fork the task"));
  if (pid == 0) {
    if (isolated_) run_init(control_end.get(), gate_end.get(), failure_end.get());
    run_task(gate_end.get(), failure_end.get());
  }
  first_ = pid;
  if (!isolated_) control_.reset();
  if (cgroup_) {
    if (Status attached = cgroup_->attach(pid, born_inside); !attached) {
      kill_all();
      return fail(attached.error());
    }
  }
  if (isolated_ && !send_packet(control_.get(), 'f', 0)) {
    kill_all();
    return fail(errno_error("the first process of the task has died"));
  }
  return pid;
}

// Init of the pid namespace: forks the task, reaps orphans, forwards signals. All die with it.
void TaskTree::run_init(int control, int gate, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // if the parent died before this line, `control` is closed
  ::prctl(PR_SET_NAME, "ares-init");
  ::setsid();
  // /proc must show the pids of this namespace. New mounts of the host still propagate.
  ::mount("none", "/", nullptr, MS_SLAVE | MS_REC, nullptr);
  ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
  keep_only({control, gate, failure});

  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGCHLD, &action, nullptr);

  const std::optional<Packet> start = receive_packet(control, 0);
  if (!start || start->what != 'f') ::_exit(0);
  const pid_t task = fork_with(0);
  if (task < 0) ::_exit(1);
  if (task == 0) {
    ::close(control);
    run_task(gate, failure);
  }
  ::close(gate);
  ::close(failure);

  sigset_t open = child;
  ::sigprocmask(SIG_BLOCK, nullptr, &open);
  ::sigdelset(&open, SIGCHLD);
  for (;;) {
    int status = 0;
    while (const pid_t pid = ::waitpid(-1, &status, WNOHANG)) {
      if (pid < 0) break;
      if (pid == task) send_packet(control, 'e', status);
    }
    pollfd readable{control, POLLIN, 0};
    if (::ppoll(&readable, 1, nullptr, &open) < 0) continue;  // SIGCHLD
    const std::optional<Packet> packet = receive_packet(control, 0);
    if (!packet) ::_exit(0);  // the supervisor has ended
    if (packet->what == 's') ::kill(-1, packet->value);
    if (packet->what == 't') ::kill(task, packet->value);
    if (packet->what == 'q') {
      ::kill(-1, SIGSTOP);
      send_packet(control, 'a', 0);
    }
  }
}

void TaskTree::run_task(int gate, int failure) {
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  keep_only({gate, failure});
  ::setsid();

  char byte = 0;
  ssize_t n = 0;
  while ((n = ::read(gate, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (n != 1) ::_exit(0);  // the supervisor closed the gate, so it never opens
  ::close(gate);
  reset_signals();
  const BodyFailure result = body_();
  // The supervisor reads only after our end, so the text must fit into the pipe.
  const std::string why = clip(result.why);
  [[maybe_unused]] const ssize_t written = ::write(failure, why.data(), why.size());
  ::_exit(result.exit_code);
}

void TaskTree::open_gate() {
  [[maybe_unused]] const ssize_t n = ::write(gate_.get(), "g", 1);
  gate_.reset();
}

// Asks init to stop everything and waits for its answer.
bool TaskTree::stop_by_init() {
  if (!send_packet(control_.get(), 'q', 0)) return false;
  for (;;) {
    pollfd readable{control_.get(), POLLIN, 0};
    const int ready = ::poll(&readable, 1, kAnswerTimeoutMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const std::optional<Packet> packet = receive_packet(control_.get(), 0);
    if (!packet) return false;
    if (packet->what == 'a') return true;
    if (packet->what == 'e') early_end_ = end_of(packet->value);
  }
}

void TaskTree::signal(int signal, bool task_only) {
  if (first_ == 0 || gone_) return;
  if (isolated_) {
    send_packet(control_.get(), task_only ? 't' : 's', signal);
  } else if (task_only) {
    if (!task_ended_) ::kill(first_, signal);
  } else {
    for (pid_t pid : descendants()) ::kill(pid, signal);
  }
}

bool TaskTree::freeze() {
  if (cgroup_ && cgroup_->freeze()) return true;
  if (isolated_) return stop_by_init();
  // A process may fork during the scan: repeat until a scan finds no new process.
  std::set<pid_t> stopped;
  for (int pass = 0; pass < 100; ++pass) {
    bool found = false;
    for (pid_t pid : descendants()) {
      if (!stopped.insert(pid).second) continue;
      found = true;
      if (::kill(pid, SIGSTOP) != 0 && errno != ESRCH) return false;
    }
    if (!found) return true;
  }
  return false;
}

void TaskTree::thaw() {
  if (cgroup_ && cgroup_->can_freeze()) cgroup_->thaw();
  signal(SIGCONT, false);  // they were stopped by signals if the freezer failed
}

void TaskTree::kill_all() {
  if (first_ == 0 || gone_) return;
  killing_ = true;
  if (cgroup_) cgroup_->kill();
  gate_.reset();
  if (isolated_)
    ::kill(first_, SIGKILL);
  else
    for (pid_t pid : descendants()) ::kill(pid, SIGKILL);
}

void TaskTree::read_control(Events& events) {
  if (early_end_ && !task_ended_) {
    events.task_end = std::move(early_end_);
    task_ended_ = true;
  }
  while (control_) {
    const std::optional<Packet> packet = receive_packet(control_.get(), MSG_DONTWAIT);
    if (!packet) return;
    if (packet->what == 'e' && !task_ended_) {
      events.task_end = end_of(packet->value);
      task_ended_ = true;
    }
  }
}

std::string TaskTree::read_failure() {
  std::string text;
  char buffer[1024];
  ::fcntl(failure_.get(), F_SETFL, O_NONBLOCK);
  for (ssize_t n; (n = ::read(failure_.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

TaskTree::Events TaskTree::collect() {
  Events events;
  if (first_ == 0 || gone_) return events;
  read_control(events);
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) {
      gone_ = pid < 0;  // no child left; orphans are reparented to us
      break;
    }
    if (pid != first_) continue;
    read_control(events);  // the last packets of init
    if (!isolated_ && !task_ended_) {
      events.task_end = end_of(status);
      task_ended_ = true;
    }
  }
  if (events.task_end) events.task_end->detail = read_failure();
  if (!gone_) {
    if (killing_ && !isolated_) kill_all();  // forked during the previous kill
    return events;
  }
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  auto duration = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  Gone gone;
  gone.user_cpu = duration(usage.ru_utime);
  gone.system_cpu = duration(usage.ru_stime);
  gone.max_rss = Bytes::kib(usage.ru_maxrss);
  gone.out_of_memory = cgroup_ && cgroup_->ran_out_of_memory();
  events.gone = gone;
  cgroup_.reset();
  return events;
}

}  // namespace ares::os
