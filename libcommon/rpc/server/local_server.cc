#include "rpc/server/local_server.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
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
constexpr std::chrono::microseconds kTurn{200};  // of a user who has more requests

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
    std::deque<std::uint64_t> waiting;  // peers with a request to handle
    std::size_t connections = 0;
    std::size_t partial_bytes = 0;
    std::shared_ptr<UserLoad> load = std::make_shared<UserLoad>();
  };
  struct Connected {
    std::shared_ptr<LocalPeer> peer;
    std::size_t partial_bytes = 0;
    bool waits = false;  // is in its user's list
  };
  using Peers = std::map<std::uint64_t, Connected>;
  using Clock = std::chrono::steady_clock;

  const CallContext call_context;
  const LocalLimits limits;
  const ConnectionLimits descriptors;
  Problems& problems;
  EventLoop loop;
  std::map<std::uint64_t, UnixListener> listeners;  // by the loop's ids, as the next
  Peers peers;
  std::map<UserId, User> users;
  std::deque<UserId> turns;  // of users with a request to handle
  const std::optional<UserId> shared_uid = uid_of_unknown_users();

  State(CallContext c, LocalLimits l, ConnectionLimits d, Problems& p)
      : call_context(c), limits(l), descriptors(d), problems(p) {}

  void ready(std::uint64_t id, std::uint32_t events);
  void tick();
  void accept(UnixListener& listener);
  void welcome(Socket socket);
  bool may_connect(UserId uid, const User& user) const;
  void serve(std::uint64_t id, std::uint32_t events);
  void add_turn(Peers::iterator found);
  bool take_turns();
  bool handle_one_of(UserId uid);
  void handle_next(Peers::iterator found);
  bool count_partial(Peers::iterator found);
  void drop(Peers::iterator found);
};

LocalServer::LocalServer(CallContext call_context, LocalLimits limits, ConnectionLimits descriptors,
                         Problems& problems)
    : state_(std::make_unique<State>(call_context, limits, descriptors, problems)) {}

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
               [&s] { s.tick(); }, [&s] { return s.take_turns(); });
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
  if (found->second.waits) found->second.peer->wait_for_turn(true);
  if (!found->second.peer->ready(events)) return drop(found);
  if (!count_partial(found)) return;
  if (!found->second.waits && found->second.peer->has_request(call_context)) add_turn(found);
}

// False: the peer was dropped, because its user has too much half sent.
bool LocalServer::State::count_partial(Peers::iterator found) {
  Connected& connected = found->second;
  User& user = users[connected.peer->user()];
  user.partial_bytes += connected.peer->partial_bytes() - connected.partial_bytes;
  connected.partial_bytes = connected.peer->partial_bytes();
  if (user.partial_bytes <= limits.partial_bytes_per_user) return true;
  connected.peer->send_frame(
      refusal_frame(0, {ErrorCode::unavailable, "too many large requests are being sent at once"}));
  drop(found);
  return false;
}

void LocalServer::State::add_turn(Peers::iterator found) {
  const UserId uid = found->second.peer->user();
  User& user = users[uid];
  if (user.waiting.empty()) turns.push_back(uid);
  user.waiting.push_back(found->first);
  found->second.waits = true;
}

// Each user has a short turn, so that one user's many requests do not delay those of others. True: there are more.
bool LocalServer::State::take_turns() {
  for (std::size_t left = turns.size(); left > 0; --left) {
    const UserId uid = turns.front();
    turns.pop_front();
    const auto end = Clock::now() + kTurn;
    bool more = true;
    while (more && Clock::now() < end) more = handle_one_of(uid);
    if (more) turns.push_back(uid);
  }
  return !turns.empty();
}

// False: the user has no more.
bool LocalServer::State::handle_one_of(UserId uid) {
  const auto user = users.find(uid);
  if (user == users.end() || user->second.waiting.empty()) return false;
  const auto found = peers.find(user->second.waiting.front());
  user->second.waiting.pop_front();
  if (found != peers.end()) handle_next(found);
  const auto after = users.find(uid);
  return after != users.end() && !after->second.waiting.empty();
}

void LocalServer::State::handle_next(Peers::iterator found) {
  LocalPeer& peer = *found->second.peer;
  found->second.waits = false;
  if (!peer.handle_next(call_context)) return drop(found);
  if (!count_partial(found)) return;
  if (!peer.has_request(call_context)) return peer.wait_for_turn(false);
  users[peer.user()].waiting.push_back(found->first);
  found->second.waits = true;
}

void LocalServer::State::drop(Peers::iterator found) {
  found->second.peer->close();
  const auto user = users.find(found->second.peer->user());
  user->second.partial_bytes -= found->second.partial_bytes;
  if (--user->second.connections == 0) users.erase(user);
  peers.erase(found);
}

}  // namespace ares::rpc
