#include "rpc/server/local_server.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "rpc/server/event_loop.h"
#include "rpc/server/listen.h"
#include "rpc/wire/local_frame.h"
#include "rpc/wire/socket.h"

namespace ares::rpc {
namespace {

constexpr int kAcceptedAtOnce = 64;

// In a user namespace that lacks some of the machine's users, the system gives them all the same uid. None: it lacks none.
std::optional<UserId> uid_of_unknown_users() {
  std::uint64_t first = 0, outside = 0, count = 0;
  std::ifstream map("/proc/self/uid_map");
  if (map >> first >> outside >> count && first == 0 && count >= 0xffff'ffff) return std::nullopt;
  std::uint32_t uid = 65534;
  std::ifstream("/proc/sys/kernel/overflowuid") >> uid;
  return UserId(uid);
}

}  // namespace

struct LocalServer::State {
  struct User {
    std::size_t connections = 0;
    std::size_t partial_bytes = 0;
    std::shared_ptr<UserLoad> load = std::make_shared<UserLoad>();
  };
  struct Connected {
    std::shared_ptr<LocalPeer> peer;
    std::size_t partial_bytes = 0;
  };

  const CallContext call_context;
  const LocalLimits limits;
  const ConnectionLimits descriptors;
  Problems& problems;
  EventLoop loop;
  std::map<std::uint64_t, UnixListener> listeners;  // by the loop's ids, as the next
  std::map<std::uint64_t, Connected> peers;
  std::map<UserId, User> users;
  const std::optional<UserId> shared_uid = uid_of_unknown_users();

  State(CallContext c, LocalLimits l, ConnectionLimits d, Problems& p)
      : call_context(std::move(c)), limits(l), descriptors(d), problems(p) {}

  void ready(std::uint64_t id, std::uint32_t events);
  void tick();
  void accept(UnixListener& listener);
  void welcome(Socket socket);
  bool may_connect(UserId uid, const User& user) const;
  void serve(std::uint64_t id, std::uint32_t events);
  void drop(std::map<std::uint64_t, Connected>::iterator found);
};

LocalServer::LocalServer(CallContext call_context, LocalLimits limits, ConnectionLimits descriptors,
                         Problems& problems)
    : state_(std::make_unique<State>(std::move(call_context), limits, descriptors, problems)) {}

LocalServer::~LocalServer() {
  stop();
}

Status LocalServer::listen(const Address& address) {
  auto listener = UnixListener::open(call_socket(address), 0666);
  if (!listener) return fail(std::move(listener.error()));
  state_->listeners.emplace(state_->loop.new_id(), std::move(*listener));
  return {};
}

Status LocalServer::start() {
  State& s = *state_;
  if (auto opened = s.loop.open(); !opened) return opened;
  for (const auto& [id, listener] : s.listeners) s.loop.add_listener(listener.fd(), id);
  s.loop.start([&s](std::uint64_t id, std::uint32_t events) { s.ready(id, events); },
               [&s] { s.tick(); });
  return {};
}

void LocalServer::stop() {
  State& s = *state_;
  s.loop.stop();
  while (!s.peers.empty()) s.drop(s.peers.begin());
  for (auto& [id, listener] : s.listeners) listener.remove_file();
  s.listeners.clear();
}

void LocalServer::State::ready(std::uint64_t id, std::uint32_t events) {
  if (const auto found = listeners.find(id); found != listeners.end())
    accept(found->second);
  else
    serve(id, events);
}

void LocalServer::State::tick() {
  for (auto& [id, listener] : listeners) {
    if (listener.is_reachable()) continue;
    accept(listener);
    report_reopened(problems, listener.path(), listener.reopen());
    loop.add_listener(listener.fd(), id);
  }
}

void LocalServer::State::accept(UnixListener& listener) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    Socket socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket)
      welcome(std::move(socket));
    else if (loop.pause_after(errno, problems))
      return;
  }
}

bool LocalServer::State::may_connect(UserId uid, const User& user) const {
  if (std::find(limits.unbounded.begin(), limits.unbounded.end(), uid) != limits.unbounded.end())
    return true;
  return peers.size() < limits.connections && user.connections < limits.connections_per_user;
}

void LocalServer::State::welcome(Socket socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return;
  const bool reserved = in_reserve(socket.fd(), descriptors);
  if (reserved) report_reserve(problems, descriptors);
  const UserId uid(credentials.uid);
  User& user = users[uid];
  const std::uint64_t id = loop.new_id();
  const auto peer = std::make_shared<LocalPeer>(
      std::move(socket), LocalUser{uid, GroupId(credentials.gid), user.load, uid != shared_uid},
      loop.epoll(), id, limits);
  if (reserved || !may_connect(uid, user)) {
    if (user.connections == 0) users.erase(uid);
    peer->send_frame(refusal_frame(
        0, {ErrorCode::unavailable, "too many connections are open; close some, or wait"}));
    return peer->close();
  }
  if (!peer->watch()) {
    if (user.connections == 0) users.erase(uid);
    return peer->close();
  }
  ++user.connections;
  peers.emplace(id, Connected{peer, 0});
}

void LocalServer::State::serve(std::uint64_t id, std::uint32_t events) {
  const auto found = peers.find(id);
  if (found == peers.end()) return;
  Connected& connected = found->second;
  if (!connected.peer->ready(events, call_context)) return drop(found);
  User& user = users[connected.peer->user()];
  user.partial_bytes += connected.peer->partial_bytes() - connected.partial_bytes;
  connected.partial_bytes = connected.peer->partial_bytes();
  if (user.partial_bytes <= limits.partial_bytes_per_user) return;
  connected.peer->send_frame(
      refusal_frame(0, {ErrorCode::unavailable, "too many large requests are being sent at once"}));
  drop(found);
}

void LocalServer::State::drop(std::map<std::uint64_t, Connected>::iterator found) {
  found->second.peer->close();
  const auto user = users.find(found->second.peer->user());
  user->second.partial_bytes -= found->second.partial_bytes;
  if (--user->second.connections == 0) users.erase(user);
  peers.erase(found);
}

}  // namespace ares::rpc
