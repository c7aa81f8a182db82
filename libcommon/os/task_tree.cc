#include "os/task_tree.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <set>
#include <utility>

#include "base/clip.h"
#include "os/clock.h"
#include "os/descendants.h"

namespace ares::os {
namespace {

constexpr std::chrono::milliseconds kAnswerTimeout{1000};
constexpr std::chrono::milliseconds kSendTimeout{100};
constexpr int kSetUpTimeoutMs = 10'000;
constexpr const char* kNoNamespace = "cannot make a pid namespace";
constexpr const char* kNeedsNamespace =
    "cannot make a pid namespace, which a job under a lease needs";

// A process has the counts of the children that it has waited for, and the only thread of this one has its own.
DiskUse disk_use_of_children() {
  return (read_disk_counters("/proc/self/io") - read_disk_counters("/proc/thread-self/io")).use();
}

Duration duration(const timeval& t) {
  return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
}

TaskTree::TaskEnd end_of(int status) {
  TaskTree::TaskEnd end;
  if (WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
  else
    end.code = WEXITSTATUS(status);
  return end;
}

void reset_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

TaskTree::TaskTree(Body body, Isolation isolation, std::optional<Cgroup> cgroup)
    : body_(std::move(body)),
      isolation_(isolation),
      kind_(isolation.kind),
      cgroup_(std::move(cgroup)) {}

TaskTree::~TaskTree() {
  if (first_ == 0 || gone_) return;
  kill_all();
  // The kernel ends what is in the namespace before its init. Without one, orphans have become our children.
  const pid_t whom = isolated() ? first_ : -1;
  while (::waitpid(whom, nullptr, 0) > 0 || errno == EINTR) {
  }
}

Status TaskTree::prepare() {
  prepared_ = true;
  return make_first();
}

void TaskTree::assign(bool required, Limits limits) {
  isolation_.required = required;
  limits_ = std::move(limits);
}

Result<pid_t> TaskTree::spawn_gated(const std::string& order) {
  order_ = order;
  if (!prepared_) {
    if (Status made = make_first(); !made) return fail(made.error());
  } else if (cgroup_) {
    if (Status limited = cgroup_->limit(std::move(limits_), first_); !limited) {
      kill_all();
      return fail(limited.error());
    }
  }
  if (isolated() && !send_start(control_.get(), isolation_.required, order_)) {
    const Error error = errno_error("the first process of the task has died");
    kill_all();
    return fail(error);
  }
  return first_;
}

// Makes the first process in its control groups.
Status TaskTree::make_first() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (cgroup_ && !(prepared_ ? cgroup_->create_ahead() : cgroup_->create())) cgroup_.reset();
  Result<ChildEnds> ends = make_channels();
  if (!ends) return fail(ends.error());
  Result<Birth> birth = fork_first(*ends);
  if (!birth && isolated() && !isolation_.required && !prepared_) {
    kind_ = NamespaceKind::none;
    why_not_isolated_ = birth.error().message;
    birth = fork_first(*ends);
  }
  if (!birth) return fail(birth.error());
  if (!isolated()) control_.reset();
  if (!cgroup_) return {};
  Status attached = cgroup_->attach(first_, birth->in_cgroup);
  if (!attached) kill_all();
  return attached;
}

Result<TaskTree::ChildEnds> TaskTree::make_channels() {
  ChildEnds ends;
  int pair[2];
  if (::pipe2(pair, O_CLOEXEC) != 0) return fail(errno_error("cannot make the task's gate"));
  ends.gate.reset(pair[0]);
  gate_.reset(pair[1]);
  if (::pipe2(pair, O_CLOEXEC) != 0) return fail(errno_error("cannot make a pipe"));
  failure_.reset(pair[0]);
  ends.failure.reset(pair[1]);
  if (!isolated()) return ends;
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(errno_error("cannot make a socket pair"));
  stop_timer_.reset(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!stop_timer_) return fail(errno_error("cannot make a timer"));
  control_.reset(pair[0]);
  ends.control.reset(pair[1]);
  return ends;
}

// Forks the first process, in a namespace unless kind_ is `none`. After an error no process is left.
Result<TaskTree::Birth> TaskTree::fork_first(ChildEnds& ends) {
  if (isolation_.required && !isolated())
    return fail(ErrorCode::failed_precondition, std::string(kNeedsNamespace) +
                                                    ": this node runs jobs without them, see "
                                                    "NAMESPACES in aresd(8)");
  const NamespaceOwner owner = namespace_owner();
  const Fd group = cgroup_ ? cgroup_->open_unified() : Fd();
  Birth birth{static_cast<bool>(group)};
  pid_t pid = fork_with(clone_flags(kind_, isolation_.ipc), group.get());
  if (pid < 0 && birth.in_cgroup) {  // Linux before 5.7, or the group refuses it
    birth.in_cgroup = false;
    pid = fork_with(clone_flags(kind_, isolation_.ipc));
  }
  const char* const cannot = isolation_.required ? kNeedsNamespace : kNoNamespace;
  if (pid < 0) return fail(errno_error(isolated() ? cannot : "cannot fork the task"));
  if (pid == 0) {
    if (!isolated()) run_task(ends, order_);
    run_init({kind_,
              isolation_.ipc,
              owner,
              ends.control.get(),
              stop_timer_.get(),
              {ends.gate.get(), ends.failure.get()}},
             {[&](const std::string& order) { run_task(ends, order); },
              [&](const std::string& order, int fd) { run_beside(order, fd); }});
  }
  ends.control.reset();  // so that the death of init closes the channel
  first_ = pid;
  if (kind_ != NamespaceKind::unprivileged) return birth;
  const std::optional<InitPacket> ready = wait_for_packet(control_.get(), kSetUpTimeoutMs);
  if (ready && ready->what == InitPacket::entered && ready->value == 0) return birth;
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  first_ = 0;
  return fail(errno_error(cannot, ready ? ready->value : ETIMEDOUT));
}

void TaskTree::run_task(const ChildEnds& ends, const std::string& order) {
  const int gate = ends.gate.get();
  const int failure = ends.failure.get();
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  close_all_but({gate, failure});
  ::setsid();

  char byte = 0;
  ssize_t n = 0;
  while ((n = ::read(gate, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (n != 1) ::_exit(0);  // the supervisor closed the gate, so it never opens
  ::close(gate);
  reset_signals();
  const BodyFailure result = body_(order);
  // The supervisor reads only after our end, so the text must fit into the pipe.
  const std::string why = clip(result.why);
  [[maybe_unused]] const ssize_t written = ::write(failure, why.data(), why.size());
  ::_exit(result.exit_code);
}

void TaskTree::run_beside(const std::string& order, int fd) {
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent || !beside_) ::_exit(1);
  close_all_but({fd});
  ::setsid();
  reset_signals();
  beside_(order, fd);
  ::_exit(0);
}

bool TaskTree::start_beside(int fd) {
  if (first_ == 0 || gone_ || killing_ || !beside_) return false;
  if (isolated()) return send_start_beside(control_.get(), fd);
  if (beside_pid_ != 0) return false;
  const pid_t pid = fork_with(0);
  if (pid == 0) run_beside(order_, fd);
  if (pid < 0) return false;
  beside_pid_ = pid;
  if (cgroup_ && !cgroup_->attach(pid, false)) ::kill(pid, SIGKILL);
  return true;
}

void TaskTree::open_gate() {
  [[maybe_unused]] const ssize_t n = ::write(gate_.get(), "g", 1);
  gate_.reset();
}

// An init that is stopped or frozen reads nothing, so that its socket fills up. It is waited for once.
bool TaskTree::tell_init(InitPacket::What what, int value) {
  const auto patience = init_silent_ ? std::chrono::milliseconds{} : kSendTimeout;
  const bool told = send_packet(control_.get(), what, value, patience);
  init_silent_ = !told;
  return told;
}

// Asks init to stop everything and waits for its answer.
bool TaskTree::stop_by_init() {
  if (!tell_init(InitPacket::stop_all)) return false;
  const BootTime deadline = boot_now() + kAnswerTimeout;
  for (BootTime now = boot_now(); now < deadline; now = boot_now()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
    const auto packet = wait_for_packet(control_.get(), static_cast<int>(left.count()));
    if (!packet) return false;
    note(*packet);
    if (packet->what == InitPacket::stopped) return true;
  }
  return false;
}

void TaskTree::stop_at(BootTime when) {
  if (!stop_timer_) return;
  const std::int64_t us = std::max<std::int64_t>(1, when.time_since_epoch().count());
  itimerspec at{};
  at.it_value.tv_sec = us / 1'000'000;
  at.it_value.tv_nsec = us % 1'000'000 * 1000;
  ::timerfd_settime(stop_timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
}

bool TaskTree::signal(int signal, To to) {
  if (first_ == 0 || gone_) return true;
  if (isolated()) {
    if (to == To::task) return tell_init(InitPacket::signal_task, signal);
    if (to == To::others) return tell_init(InitPacket::signal_others, signal);
    // A frozen init would obey after the thaw, when the others run again. They cannot fork now.
    const bool past_init = frozen_ && signal == SIGKILL;
    if (past_init || !tell_init(InitPacket::signal_all, signal)) signal_descendants(signal, first_);
  } else if (to == To::task) {
    if (!task_ended_) ::kill(script_of(first_), signal);
  } else {
    signal_descendants(signal, to == To::others ? first_ : 0);
  }
  return true;
}

bool TaskTree::freeze() {
  if (cgroup_ && cgroup_->freeze()) return frozen_ = true;
  if (isolated()) return stop_by_init();
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
  stopped_by_init_ = false;
  if (cgroup_ && cgroup_->can_freeze()) cgroup_->thaw();
  frozen_ = false;
  signal(SIGCONT, To::all);  // they were stopped by signals if the freezer failed
}

void TaskTree::kill_all() {
  if (first_ == 0 || gone_) return;
  // The kernel does not wait for the processes of a namespace whose init was killed, and forgets what they counted.
  if (cgroup_ && !killing_)
    if (const auto use = live_use(cgroup_->directories())) disk_before_kill_ = use->disk;
  killing_ = true;
  if (isolated())
    ::kill(first_, SIGKILL);
  else
    signal_descendants(SIGKILL);
  if (cgroup_) cgroup_->kill();  // last: it thaws
  gate_.reset();
}

std::string TaskTree::survivors() const {
  return describe_processes(descendants(), first_);
}

void TaskTree::note(const InitPacket& packet) {
  if (packet.what == InitPacket::task_ended) reported_end_ = end_of(packet.value);
  if (packet.what == InitPacket::beside_ended) beside_ended_ = true;
  if (packet.what == InitPacket::timer_stopped) stopped_by_init_ = true;
}

void TaskTree::read_control(Events& events) {
  while (control_) {
    errno = 0;
    const std::optional<InitPacket> packet = receive_packet(control_.get(), MSG_DONTWAIT);
    if (packet) {
      note(*packet);
      continue;
    }
    // Init has closed it. It would be readable, and so keep who waits for it awake, until the kernel
    // has taken the namespace down.
    if (errno != EAGAIN) control_.reset();
    break;
  }
  if (!reported_end_ || task_ended_) return;
  events.task_end = std::exchange(reported_end_, std::nullopt);
  task_ended_ = true;
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
  const bool over = first_ == 0 || gone_;
  if (over && helper_ == 0) return events;
  if (!over) read_control(events);
  bool none_left = false;
  for (;;) {
    int status = 0;
    rusage used{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &used);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) {
      none_left = pid < 0;  // orphans are reparented to us
      break;
    }
    if (pid == helper_) {
      helper_ = 0;
      helpers_user_cpu_ += duration(used.ru_utime);
      helpers_system_cpu_ += duration(used.ru_stime);
      if (!gone_) helpers_disk_ = disk_use_of_children();  // nothing of the attempt has ended yet
      events.helper_end = status;
      continue;
    }
    if (pid == beside_pid_) {
      beside_pid_ = 0;
      beside_ended_ = true;
    }
    if (over || pid != first_) continue;
    read_control(events);  // the last packets of init
    if (!isolated() && !task_ended_) {
      events.task_end = end_of(status);
      task_ended_ = true;
    }
  }
  events.beside_ended = std::exchange(beside_ended_, false);
  if (over) return events;
  gone_ = none_left;
  if (events.task_end) events.task_end->detail = read_failure();
  if (!gone_) {
    if (killing_ && !isolated()) kill_all();  // forked during the previous kill
    return events;
  }
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  Gone gone;
  gone.user_cpu = duration(usage.ru_utime) - helpers_user_cpu_;
  gone.system_cpu = duration(usage.ru_stime) - helpers_system_cpu_;
  gone.max_rss = Bytes::kib(usage.ru_maxrss);
  gone.disk = disk_use_of_children();
  gone.disk.read = gone.disk.read - std::min(helpers_disk_.read, gone.disk.read);
  gone.disk.written = gone.disk.written - std::min(helpers_disk_.written, gone.disk.written);
  gone.disk.read = std::max(gone.disk.read, disk_before_kill_.read);
  gone.disk.written = std::max(gone.disk.written, disk_before_kill_.written);
  if (cgroup_) {
    // Complete, unlike those of children, which leave out processes that no parent waited for.
    const GroupUse use = cgroup_->limits().use();
    gone.user_cpu = std::max(gone.user_cpu, use.user_cpu);
    gone.system_cpu = std::max(gone.system_cpu, use.system_cpu);
    gone.max_rss = std::max(gone.max_rss, use.peak_memory);
  }
  gone.out_of_memory = cgroup_ && cgroup_->limits().ran_out_of_memory();
  events.gone = gone;
  cgroup_.reset();
  return events;
}

}  // namespace ares::os
