#include "exec/baremetal/step_channels.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "os/sweep.h"

namespace ares::exec {
namespace {

constexpr int kChannelFd = 3;                        // in the supervisor
constexpr std::chrono::milliseconds kDying{10'000};  // maximum wait for a killed pid namespace
constexpr std::uint64_t kWakeupTag = 0;

std::uint64_t socket_tag(std::uint64_t id) {
  return id * 2;
}
std::uint64_t process_tag(std::uint64_t id) {
  return id * 2 + 1;
}

os::Fd open_process(pid_t pid) {
  return os::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

// The two tables of posix_spawn, destroyed at the end of the scope.
struct SpawnTables {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  SpawnTables() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnTables() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnTables(const SpawnTables&) = delete;
  SpawnTables& operator=(const SpawnTables&) = delete;
};

}  // namespace

Result<std::unique_ptr<StepChannels>> StepChannels::make(std::string stepd,
                                                         const FileSpool& spool) {
  if (::access(stepd.c_str(), X_OK) != 0)
    return fail(os::errno_error("cannot use " + stepd + " as aresstepd"));
  std::unique_ptr<StepChannels> self(new StepChannels(std::move(stepd), spool));
  self->poll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  self->wakeup_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!self->poll_ || !self->wakeup_) return fail(os::errno_error("cannot set up the event loop"));
  self->watch(self->wakeup_.get(), kWakeupTag);
  return self;
}

void StepChannels::watch(int fd, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void StepChannels::add(Channel channel) {
  const std::uint64_t id = ++last_id_;
  if (channel.socket) watch(channel.socket.get(), socket_tag(id));
  if (channel.process) watch(channel.process.get(), process_tag(id));
  channels_.emplace(id, std::move(channel));
}

StepChannels::Channel* StepChannels::find(const AttemptKey& key) {
  for (auto& [id, channel] : channels_)
    if (channel.key == key && !channel.dropped) return &channel;
  return nullptr;
}

Status StepChannels::spawn(const AttemptKey& key) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
    return fail(os::errno_error("cannot make a socket pair"));
  os::Fd ours(pair[0]), theirs(pair[1]);
  const std::string directory = spool_.directory(key);
  const std::string log = directory + "/log";

  // A supervisor writes to its own log, because it may outlive the reader of ours.
  SpawnTables tables;
  ::posix_spawn_file_actions_addopen(&tables.files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&tables.files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
  ::posix_spawn_file_actions_adddup2(&tables.files, 1, 2);
  ::posix_spawn_file_actions_adddup2(&tables.files, theirs.get(), kChannelFd);
  ::posix_spawn_file_actions_addclosefrom_np(&tables.files, kChannelFd + 1);
  sigset_t all, none;
  ::sigfillset(&all);
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&tables.attributes, &all);
  ::posix_spawnattr_setsigmask(&tables.attributes, &none);
  ::posix_spawnattr_setflags(&tables.attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::string channel = std::to_string(kChannelFd);
  char* arguments[] = {stepd_.data(), const_cast<char*>(directory.c_str()), channel.data(),
                       nullptr};
  char* environment[] = {nullptr};
  pid_t pid = 0;
  if (const int error = ::posix_spawn(&pid, stepd_.c_str(), &tables.files, &tables.attributes,
                                      arguments, environment);
      error != 0)
    return fail(os::errno_error("cannot start " + stepd_, error));
  add({key, std::move(ours), open_process(pid), true, false});
  return {};
}

void StepChannels::connect(const AttemptKey& key) {
  os::Fd dir(::open(spool_.directory(key).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  os::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Through the descriptor, because a socket path has at most 108 bytes.
  const std::string path = "/proc/self/fd/" + std::to_string(dir.get()) + "/sock";
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (!dir || !socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return answer(key, false);
  ucred peer{};
  socklen_t size = sizeof peer;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  add({key, std::move(socket), open_process(peer.pid), false, false});
  answer(key, true);
}

// Delivered by dispatch(), because connect() and send() must not call back.
void StepChannels::answer(const AttemptKey& key, bool opened) {
  answers_.push_back({key, opened});
  const std::uint64_t one = 1;
  (void)!::write(wakeup_.get(), &one, sizeof one);
}

void StepChannels::send(const AttemptKey& key, const node::StepCommand& command) {
  Channel* channel = find(key);
  if (!channel || !channel->socket) return;  // closed() follows
  const std::string packet = encode(command);
  if (::send(channel->socket.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
    return;
  if (errno != EAGAIN) return;  // broken: the end of the process is reported
  // The supervisor does not read its socket. Give this channel up; a new one may work.
  channel->dropped = true;
  channel->socket.reset();
  answer(key, false);
}

void StepChannels::drop(const AttemptKey& key) {
  std::erase_if(answers_, [&](const Answer& a) { return a.key == key; });
  for (auto it = channels_.begin(); it != channels_.end();) {
    Channel& channel = it->second;
    const bool ours = channel.key == key;
    if (ours) {
      channel.dropped = true;
      channel.socket.reset();
    }
    // A child's entry stays until the child is reaped.
    it = ours && !(channel.child && channel.process) ? channels_.erase(it) : std::next(it);
  }
}

void StepChannels::sweep(const AttemptKey& key) {
  const std::unique_ptr<node::AttemptDir> dir = spool_.open(key);
  if (!dir) return;
  // The tree is gone before `exit` is written, so with `exit` there is nothing to kill.
  if (Result<std::string> text = dir->read(node::Record::task);
      text && !dir->has(node::Record::exit))
    if (Result<node::TaskRecord> task = node::decode_task(*text); task) {
      // Processes of a namespace end some time after its init. No other attempt may start before.
      if (task->own_pid_namespace)
        os::namespace_gone(static_cast<pid_t>(task->pid), kDying);
      else
        os::kill_marked("ARES_ATTEMPT_DIR=" + spool_.directory(key));
    }
  if (Result<std::string> text = dir->read(node::Record::started))
    if (Result<node::StartedRecord> started = node::decode_started(*text))
      os::remove_groups(started->cgroups);
}

void StepChannels::dispatch(node::Supervisors& supervisors, node::Moment now) {
  epoll_event events[64];
  const int count = ::epoll_wait(poll_.get(), events, std::size(events), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = events[i].data.u64;
    if (tag == kWakeupTag) {
      std::uint64_t times = 0;
      (void)!::read(wakeup_.get(), &times, sizeof times);
    } else if (tag == socket_tag(tag / 2)) {
      read_notices(tag / 2, supervisors, now);
    } else {
      process_ended(tag / 2, supervisors, now);
    }
  }
  for (const Answer& answer : std::exchange(answers_, {})) {
    if (answer.opened)
      supervisors.opened(answer.key, now);
    else
      supervisors.closed(answer.key, now);
  }
}

void StepChannels::read_notices(std::uint64_t id, node::Supervisors& supervisors,
                                node::Moment now) {
  char packet[256];
  for (;;) {
    // Looked up again each time, because a notice may lead to drop().
    auto it = channels_.find(id);
    if (it == channels_.end() || !it->second.socket) return;
    const ssize_t n = ::recv(it->second.socket.get(), packet, sizeof packet, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n > 0) {
      const auto notice = node::parse_step_notice({packet, static_cast<std::size_t>(n)});
      if (notice) supervisors.noticed(AttemptKey(it->second.key), *notice, now);
      continue;
    }
    // It closed its end of the socket, but only its exit releases the lock: wait for that.
    it->second.socket.reset();
    if (!it->second.process) process_ended(id, supervisors, now);
    return;
  }
}

void StepChannels::process_ended(std::uint64_t id, node::Supervisors& supervisors,
                                 node::Moment now) {
  auto it = channels_.find(id);
  if (it == channels_.end()) return;
  Channel channel = std::move(it->second);
  channels_.erase(it);
  if (channel.child && channel.process) {
    siginfo_t info{};
    ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(channel.process.get()), &info,
             WEXITED | WNOHANG);
  }
  if (!channel.dropped) supervisors.closed(channel.key, now);
}

}  // namespace ares::exec
