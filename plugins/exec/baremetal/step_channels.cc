#include "exec/baremetal/step_channels.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "exec/baremetal/spawn.h"

namespace ares::exec {
namespace {

constexpr std::uint64_t kWakeupTag = 0;
constexpr std::uint64_t kServersTag = 1;

std::uint64_t socket_tag(std::uint64_t id) {
  return id * 2;
}
std::uint64_t process_tag(std::uint64_t id) {
  return id * 2 + 1;
}

os::Fd open_process(pid_t pid) {
  return os::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace

Result<std::unique_ptr<StepChannels>> StepChannels::make(Setup setup, const FileSpool& spool) {
  if (::access(setup.stepd.c_str(), X_OK) != 0)
    return fail(os::errno_error("cannot use " + setup.stepd + " as aresstepd"));
  std::unique_ptr<StepChannels> self(new StepChannels(std::move(setup), spool));
  self->poll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  self->wakeup_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!self->poll_ || !self->wakeup_) return fail(os::errno_error("cannot set up the event loop"));
  self->watch(self->wakeup_.get(), kWakeupTag);
  // Without pid namespaces each supervisor needs a reaper above it, which the server has not.
  if (self->setup_.namespaces) {
    self->servers_.emplace(self->setup_.stepd, self->setup_.stepd_options);
    self->watch(self->servers_->event_fd(), kServersTag);
  }
  return self;
}

void StepChannels::watch(int fd, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void StepChannels::add(std::uint64_t id, Channel channel) {
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
  const std::uint64_t id = ++last_id_;
  if (servers_ && servers_->launch(id, directory, theirs.get())) {
    Channel channel{key, std::move(ours), {}};
    channel.awaits_process = true;
    add(id, std::move(channel));
    return {};
  }
  std::vector<std::string> command{setup_.stepd};
  command.insert(command.end(), setup_.stepd_options.begin(), setup_.stepd_options.end());
  command.insert(command.end(), {directory, std::to_string(kPassedFd)});
  if (!setup_.namespaces) command.emplace_back("--without-namespaces");
  // A supervisor writes to its own log, because it may outlive the reader of ours.
  Result<os::Fd> process = exec::spawn(std::move(command), theirs.get(), directory + "/log");
  if (!process) return fail(process.error());
  Channel channel{key, std::move(ours), std::move(*process)};
  channel.child = true;
  add(id, std::move(channel));
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
  add(++last_id_, {key, std::move(socket), open_process(peer.pid)});
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

node::Remains StepChannels::sweep(const AttemptKey& key) {
  return end_remains(spool_, key, setup_.node);
}

void StepChannels::dispatch(node::Supervisors& supervisors, node::Moment now) {
  epoll_event events[64];
  const int count = ::epoll_wait(poll_.get(), events, std::size(events), 0);
  const std::optional<BootTime> due = next_deadline();
  bool answered = due && now.boot >= *due;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = events[i].data.u64;
    if (tag == kWakeupTag) {
      std::uint64_t times = 0;
      (void)!::read(wakeup_.get(), &times, sizeof times);
    } else if (tag == kServersTag) {
      answered = true;
    } else if (tag == socket_tag(tag / 2)) {
      read_notices(tag / 2, supervisors, now);
    } else {
      process_ended(tag / 2, supervisors, now);
    }
  }
  if (answered)
    for (StepServers::Answer& answer : servers_->collect())
      process_known(answer.number, std::move(answer.process), supervisors, now);
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
    if (!it->second.process && !it->second.awaits_process) process_ended(id, supervisors, now);
    return;
  }
}

void StepChannels::process_known(std::uint64_t id, os::Fd process, node::Supervisors& supervisors,
                                 node::Moment now) {
  const auto it = channels_.find(id);
  if (it == channels_.end()) return;
  Channel& channel = it->second;
  channel.awaits_process = false;
  channel.process = std::move(process);
  if (channel.process)
    watch(channel.process.get(), process_tag(id));
  else if (!channel.socket)
    process_ended(id, supervisors, now);  // its exit may follow, and the lock be held until then
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
