#include "aresstepd/supervisor.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "aresstepd/steps/host.h"
#include "aresstepd/task_body.h"
#include "aresstepd/tree_events.h"
#include "base/clip.h"
#include "node/job_files.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/priority.h"
#include "os/sockets/local_socket.h"
#include "steps/socket_name.h"

namespace ares::stepd {
namespace {

constexpr std::size_t kLargestPacket = 4096;
constexpr Duration kListenAgain = std::chrono::seconds(1);
// From the end of a lease. This process acts first if it can, because processes do not notice a freezer.
constexpr Duration kGuardianDelay = std::chrono::milliseconds(200);

node::Moment now() {
  return {os::wall_now(), os::boot_now()};
}

std::string socket_path(const exec::FileAttemptDir& dir) {
  return dir.path() + "/sock";
}

// A leased attempt must die with its supervisor: without a pid namespace the launch fails (node
// fault).
os::TaskTree::Isolation isolation_for(const LaunchSpec& launch, const SupervisorSetup& setup) {
  const bool namespaces = setup.reaper == 0;
  return {namespaces ? os::namespace_kind() : os::NamespaceKind::none, launch.leased, setup.ipc};
}

os::Limits limits_of(const node::StepSpec& spec) {
  const NodeShare& share = spec.launch.share;
  os::Limits limits;
  limits.memory = spec.memory_limit.value_or(share.memory);
  limits.cpus = node::usable_cpus(share, spec.binding);
  const IntervalSet memory = node::allowed_memory(spec.binding, spec.launch.spec->binding);
  limits.memory_nodes = {memory.begin(), memory.end()};
  limits.cpu_count = share.cpus;
  limits.processes = spec.max_processes;
  limits.denied_devices = spec.denied_devices;
  return limits;
}

}  // namespace

// os::TaskTree behind the interface that StepMachine uses.
class Supervisor::Tree final : public node::ProcessTree {
 public:
  // `directory` is the order that the task gets.
  Tree(std::unique_ptr<os::TaskTree> tree, std::string directory, std::string private_tmp)
      : owned_(std::move(tree)),
        tree_(*owned_),
        directory_(std::move(directory)),
        private_tmp_(std::move(private_tmp)) {}

  Result<node::TaskRecord> spawn_gated() override {
    Result<pid_t> pid = tree_.spawn_gated(directory_);
    if (!pid) return fail(pid.error());
    node::TaskRecord record;
    record.pid = *pid;
    record.start_ticks = os::process_start_ticks(*pid);
    record.own_pid_namespace = tree_.isolated();
    record.no_namespace_because = clip(tree_.why_not_isolated());
    if (!record.no_namespace_because.empty())
      std::fprintf(stderr, "aresstepd: the job runs without a pid namespace: %s\n",
                   record.no_namespace_because.c_str());
    return record;
  }
  void open_gate() override { tree_.open_gate(); }
  void signal(std::int32_t signal, node::SignalTo to) override {
    if (!tree_.signal(signal, to_of(to)))
      std::fprintf(stderr,
                   "aresstepd: signal %d did not reach the job: the first process of its "
                   "namespace does not run\n",
                   signal);
  }
  void announce_end(Time at, std::string_view why) override {
    const auto seconds = std::chrono::floor<Seconds>(at).time_since_epoch().count();
    const std::string text = std::to_string(seconds) + " " + std::string(why) + "\n";
    const Status written = os::publish_file(node::deadline_file(directory_), text, 0444);
    if (!written)
      std::fprintf(stderr, "aresstepd: cannot tell the job its deadline: %s\n",
                   written.error().message.c_str());
  }
  void withdraw_end() override {
    (void)::unlink(node::deadline_file(directory_).c_str());  // it may never have been written
  }
  // Without a pid namespace only those descendants are stopped that are found in /proc.
  bool freeze() override { return tree_.freeze(); }
  bool has_freezer() const override { return tree_.has_freezer(); }
  void thaw() override { tree_.thaw(); }
  void guard_until(BootTime until) override { tree_.stop_at(until + kGuardianDelay); }
  bool stopped_by_guardian() const override { return tree_.stopped_by_init(); }
  void kill_all() override { tree_.kill_all(); }
  void remove_remains() override {
    if (private_tmp_.empty()) return;
    if (const Status removed = os::remove_tree(private_tmp_); !removed)
      std::fprintf(stderr, "aresstepd: %s\n", removed.error().message.c_str());
  }
  std::string survivors() const override { return tree_.survivors(); }
  bool runs_steps() const override { return steps_run_; }

  void set_runs_steps(bool run) { steps_run_ = run; }
  os::TaskTree& processes() { return tree_; }

 private:
  static os::TaskTree::To to_of(node::SignalTo to) {
    switch (to) {
      case node::SignalTo::all: return os::TaskTree::To::all;
      case node::SignalTo::batch_script: return os::TaskTree::To::task;
      case node::SignalTo::others: return os::TaskTree::To::others;
    }
    return os::TaskTree::To::all;
  }

  std::unique_ptr<os::TaskTree> owned_;
  os::TaskTree& tree_;
  std::string directory_;
  std::string private_tmp_;
  bool steps_run_ = false;
};

Supervisor::Supervisor(exec::FileAttemptDir dir, node::StepSpec spec, SupervisorSetup setup,
                       std::unique_ptr<os::TaskTree> prepared)
    : dir_(std::move(dir)), spec_(std::move(spec)), setup_(setup), prepared_(std::move(prepared)) {}

Supervisor::~Supervisor() = default;

Result<std::unique_ptr<Supervisor>> Supervisor::make(const std::string& directory, int channel,
                                                     SupervisorSetup setup,
                                                     std::unique_ptr<os::TaskTree> prepared) {
  Result<os::RecordDir> opened = os::RecordDir::open(directory);
  if (!opened) return fail(opened.error());
  exec::FileAttemptDir dir(std::move(*opened));
  Result<std::string> text = dir.read(node::Record::spec);
  if (!text) return fail(text.error());
  Result<node::StepSpec> spec = node::decode_step_spec(*text);
  if (!spec) return fail(spec.error());
  // The directory may have been recycled for another attempt between the start of this process and its opening.
  // Spec and intent are then the other attempt's, so the attempt is checked against the name in our argument.
  const std::string name = directory.substr(directory.rfind('/') + 1);
  if (node::directory_name(spec->launch.attempt) != name)
    return fail(ErrorCode::stale, "attempt " + name + " is over: its directory is used again");
  std::unique_ptr<Supervisor> self(
      new Supervisor(std::move(dir), std::move(*spec), setup, std::move(prepared)));
  if (channel >= 0) self->clients_.emplace_back(channel);
  return self;
}

Status Supervisor::prepare_loop() {
  sigset_t handled;
  ::sigemptyset(&handled);
  // SIGTERM and similar signals stop aresd but not its supervisors. Only Kill ends a job.
  for (int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::sigaddset(&handled, signal);
  ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  poll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  signals_.reset(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  timer_.reset(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!poll_ || !signals_ || !timer_) return fail(os::errno_error("cannot set up the event loop"));
  watch(signals_.get(), true);
  watch(timer_.get(), true);
  for (const os::Fd& client : clients_) watch(client.get(), true);
  return {};
}

Status Supervisor::run() {
  if (spec_.launch.leased) {  // the job runs without them as well; aresd(8) says what they need
    (void)os::lock_memory();
    (void)os::raise_priority(os::Priority::realtime);
  }
  if (Status ready = prepare_loop(); !ready) return ready;
  const LaunchSpec& launch = spec_.launch;
  if (prepared_) prepared_->assign(launch.leased, limits_of(spec_));
  std::unique_ptr<os::TaskTree> processes = prepared_ ? std::move(prepared_) : make_tree();
  const std::string groups = processes->groups();
  tree_ = std::make_unique<Tree>(std::move(processes), dir_.path(), spec_.private_tmp);

  node::StepSettings settings = node::settings_of(launch);
  if (spec_.prolog) settings.prolog_timeout = spec_.prolog->timeout;
  if (spec_.epilog) settings.epilog_timeout = spec_.epilog->timeout;
  settings.self.pid = ::getpid();
  settings.self.cgroups = groups;
  settings.self.start_ticks = os::process_start_ticks(::getpid());
  settings.self.reaper_pid = setup_.reaper;
  if (setup_.reaper != 0) settings.self.reaper_start_ticks = os::process_start_ticks(setup_.reaper);
  programs_ = std::make_unique<SiteProgramRunner>(
      spec_, dir_.path(), [this](pid_t pid) { tree_->processes().expect_helper(pid); });
  machine_ = std::make_unique<node::StepMachine>(
      settings, dir_, *tree_, [this](node::StepNotice notice) { notify(notice); }, programs_.get());
  Status started = machine_->start(now(), [this] { return prepare_to_listen(); });
  if (!started && machine_->finished()) return started;
  control_fd_ = tree_->processes().control_fd();
  if (control_fd_ >= 0) watch(control_fd_, true);

  while (!machine_->finished()) {
    set_timer();
    epoll_event events[16];
    const int count = ::epoll_wait(poll_.get(), events, std::size(events), -1);
    if (count < 0 && errno != EINTR) return fail(os::errno_error("cannot wait for events"));
    collect();  // before a command that came meanwhile: no Go for a task that has died
    for (int i = 0; i < count; ++i) serve(events[i].data.fd);
    collect();
    if (!machine_->finished()) machine_->tick(now());
    tell_stopped();
    if (checkpoints_) checkpoints_->tick(os::boot_now());
    if (listen_at_ && os::boot_now() >= *listen_at_) listen_or_try_again();
    if (steps_at_ && os::boot_now() >= *steps_at_) {
      steps_at_.reset();
      watch(steps_listener_.get(), true);
    }
    collect();
  }
  return started;
}

std::unique_ptr<os::TaskTree> Supervisor::make_tree() const {
  const LaunchSpec& launch = spec_.launch;
  const std::string group =
      "ares." + node::directory_name(launch.attempt) + "." + std::to_string(::getpid());
  std::optional<os::Cgroup> cgroup = os::Cgroup::plan(group, limits_of(spec_));
  auto tree =
      std::make_unique<os::TaskTree>(run_attempt, isolation_for(launch, setup_), std::move(cgroup));
  tree->set_beside(run_step_host);
  return tree;
}

void Supervisor::watch(int fd, bool on) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  ::epoll_ctl(poll_.get(), on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &event);
}

// Checks before the script may run what listen() needs later, so that an error fails the launch: a
// restarted aresd reaches the job only through the socket. listen() binds the socket to its name.
Status Supervisor::prepare_to_listen() {
  if (Status written = write_host_file(); !written) return written;
  if (Status listens = listen_for_steps(); !listens) return listens;
  if (Status listens = listen_for_checkpoints(); !listens) return listens;
  if (Status watches = watch_restored(); !watches) return watches;
  listener_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_) return fail(os::errno_error("cannot make the socket " + socket_path(dir_)));
  if (clients_.empty()) return listen();
  return clear_socket_name();
}

// Now, because a full disk is then a failed launch of this node, which the job survives elsewhere.
Status Supervisor::write_host_file() const {
  const LaunchSpec& launch = spec_.launch;
  if (launch.rank != 0 || !node::has_host_file(launch)) return {};
  return os::publish_file(node::host_file(dir_.path()), node::host_file_text(launch), 0444);
}

// Only the job's user connects: arun, and the node daemon for steps of other nodes. The process that
// accepts is started at the first connection, because few jobs have steps on most nodes.
Status Supervisor::listen_for_steps() {
  Result<os::Fd> listener =
      os::listen_in(dir_.path(), steps::kSocketName, spec_.launch.spec->uid.value());
  if (!listener) return fail(listener.error());
  steps_listener_ = std::move(*listener);
  return {};
}

// The first node, where the batch script runs, knows the checkpoints of the job.
Status Supervisor::listen_for_checkpoints() {
  if (!spec_.launch.spec->checkpoint || spec_.launch.rank != 0) return {};
  checkpoints_ = std::make_unique<CheckpointService>(
      spec_.launch, dir_.path(),
      CheckpointService::Hooks{[this](int fd, bool on) { watch(fd, on); },
                               [this] { notify(node::StepNotice::running); }});
  return checkpoints_->listen();
}

// The process that becomes the batch script looks for the checkpoint as the job's user and writes to this file.
Status Supervisor::watch_restored() {
  if (!checkpoints_ || spec_.launch.checkpoints.empty()) return {};
  const std::string path = dir_.path() + "/" + std::string(node::file_name(node::Record::restored));
  if (Status made = os::publish_file(path, {}, 0600); !made) return made;
  restored_watch_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!restored_watch_ ||
      ::inotify_add_watch(restored_watch_.get(), path.c_str(), IN_CLOSE_WRITE) < 0)
    return fail(os::errno_error("cannot watch " + path));
  watch(restored_watch_.get(), true);
  return {};
}

// The listener stays readable until a host accepts, so it is not looked at meanwhile.
void Supervisor::start_step_host() {
  watch(steps_listener_.get(), false);
  if (tree_->processes().start_beside(steps_listener_.get()))
    tree_->set_runs_steps(true);
  else if (machine_->user_code_may_run())
    steps_at_ = os::boot_now() + kListenAgain;
}

void Supervisor::step_host_ended() {
  tree_->set_runs_steps(false);
  watch(steps_listener_.get(), true);
  if (!machine_->finished()) machine_->steps_ended(now());
}

Status Supervisor::clear_socket_name() const {
  const std::string path = socket_path(dir_);
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return fail(os::errno_error("cannot use " + path + " as a socket"));
}

// Called only once the aresd that started us is gone, because the socket's file costs disk
// operations. The name is relative because a socket path has at most 108 bytes.
Status Supervisor::listen() {
  if (Status cleared = clear_socket_name(); !cleared) return cleared;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy_n("sock", 5, address.sun_path);
  if (::chdir(dir_.path().c_str()) != 0)
    return fail(os::errno_error("cannot enter " + dir_.path() + " to listen there"));
  const mode_t mask = ::umask(0177);
  const int bound =
      ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int bind_error = errno;
  ::umask(mask);
  if (bound != 0)
    return fail(os::errno_error("cannot use " + socket_path(dir_) + " as a socket", bind_error));
  if (::listen(listener_.get(), 8) != 0)
    return fail(os::errno_error("cannot listen on " + socket_path(dir_)));
  watch(listener_.get(), true);
  listening_ = true;
  return {};
}

// On failure the job continues without a socket and listen() is retried, because the script may
// already run. Standard error is the file `log` of the attempt.
void Supervisor::listen_or_try_again() {
  const bool first = !listen_at_;
  const Status listens = listen();
  listen_at_.reset();
  if (listens) return;
  listen_at_ = os::boot_now() + kListenAgain;
  if (first) std::fprintf(stderr, "aresstepd: %s; trying again\n", listens.error().message.c_str());
}

void Supervisor::serve(int fd) {
  if (fd == signals_.get()) {
    signalfd_siginfo info;
    while (::read(fd, &info, sizeof info) == sizeof info) {
    }
  } else if (fd == timer_.get()) {
    std::uint64_t expirations = 0;
    (void)!::read(fd, &expirations, sizeof expirations);
  } else if (fd == steps_listener_.get()) {
    start_step_host();
  } else if (fd == listener_.get()) {
    accept_client();
  } else if (fd == restored_watch_.get()) {
    watch(fd, false);
    restored_watch_.reset();
    notify(node::StepNotice::running);
  } else if (fd != control_fd_ && !(checkpoints_ && checkpoints_->serve(fd))) {
    read_client(fd);
  }
}

void Supervisor::accept_client() {
  os::Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!client || ::getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  if (peer.uid != 0 && peer.uid != ::geteuid()) return;
  watch(client.get(), true);
  clients_.push_back(std::move(client));
}

void Supervisor::read_client(int fd) {
  char packet[kLargestPacket];
  for (;;) {
    const ssize_t n = ::recv(fd, packet, sizeof packet, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return drop_client(fd);
    Result<node::StepCommand> command =
        node::decode_step_command({packet, static_cast<std::size_t>(n)});
    if (const auto* known = command ? std::get_if<node::StepCheckpointKnown>(&*command) : nullptr) {
      if (checkpoints_ && known->fence == spec_.launch.fence) checkpoints_->known(known->sequence);
    } else if (command) {
      machine_->receive(*command, now());
    } else {
      std::fprintf(stderr, "aresstepd: a command of aresd is ignored: %s\n",
                   command.error().message.c_str());
    }
  }
}

void Supervisor::drop_client(int fd) {
  watch(fd, false);
  std::erase_if(clients_, [fd](const os::Fd& client) { return client.get() == fd; });
  if (clients_.empty() && !listening_ && !listen_at_) listen_or_try_again();
}

void Supervisor::notify(node::StepNotice notice) {
  // Before go no code of the user may run: who connects waits.
  if (notice == node::StepNotice::running && machine_->user_code_may_run() && !serves_steps_) {
    serves_steps_ = true;
    watch(steps_listener_.get(), true);
    if (checkpoints_) checkpoints_->start();
  }
  const std::string_view text = to_string(notice);
  // Errors are ignored: a client that misses a notice finds its result in the records.
  for (const os::Fd& client : clients_)
    (void)::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// For aresd, which lets no other attempt use the CPUs before. A full disk only delays it.
void Supervisor::tell_stopped() {
  const Lsn stopped = machine_->stopped_by();
  if (tell_stopped_at_ && os::boot_now() < *tell_stopped_at_ && stopped > told_stopped_) return;
  tell_stopped_at_.reset();
  if (stopped <= told_stopped_) return;
  const std::string name(node::file_name(node::Record::stopped));
  if (!os::publish_file(dir_.path() + "/" + name, encode(node::StoppedRecord{stopped}), 0600)) {
    tell_stopped_at_ = os::boot_now() + kListenAgain;
    return;
  }
  told_stopped_ = stopped;
  notify(node::StepNotice::running);  // a hint to read the records
}

void Supervisor::collect() {
  if (machine_->finished()) return;
  forward_events(
      [this] { return tree_->processes().collect(); },
      [this](os::TaskTree::TaskEnd end) {
        ExitStatus exit;
        exit.code = end.code;
        exit.signal = end.signal;
        machine_->task_ended(exit, std::move(end.detail), now());
      },
      [this](const os::TaskTree::Gone& gone) {
        if (!machine_->finished())
          machine_->tree_gone(
              {gone.user_cpu, gone.system_cpu, gone.max_rss, gone.disk.read, gone.disk.written},
              gone.out_of_memory, now());
      },
      [this](int wait_status) { machine_->program_ended(programs_->ended(wait_status), now()); },
      [this] { step_host_ended(); });
}

void Supervisor::set_timer() {
  itimerspec when{};
  std::optional<BootTime> deadline = machine_->next_deadline();
  for (const std::optional<BootTime>& at : {listen_at_, steps_at_, tell_stopped_at_})
    if (at) deadline = std::min(deadline.value_or(*at), *at);
  if (const auto at = checkpoints_ ? checkpoints_->next_deadline() : std::nullopt; at)
    deadline = std::min(deadline.value_or(*at), *at);
  if (deadline) {
    const auto us = std::max<std::int64_t>(1, deadline->time_since_epoch().count());
    when.it_value.tv_sec = us / 1'000'000;
    when.it_value.tv_nsec = us % 1'000'000 * 1000;
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

int supervise_attempt(const std::string& directory, int channel, SupervisorSetup setup,
                      std::unique_ptr<os::TaskTree> prepared) {
  auto supervisor = Supervisor::make(directory, channel, setup, std::move(prepared));
  const Status status = supervisor ? (*supervisor)->run() : fail(supervisor.error());
  if (status) return 0;
  std::fprintf(stderr, "aresstepd: %s\n", status.error().message.c_str());
  return 1;
}

}  // namespace ares::stepd
