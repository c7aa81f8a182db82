#include "rpc/server/gate.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "rpc/server/event_loop.h"
#include "rpc/server/listen.h"
#include "rpc/wire/peer_address.h"

namespace ares::rpc {
namespace {

constexpr int kAcceptedAtOnce = 64;
// What was sent and not acknowledged for so long ends a connection, as gRPC sets it for its own.
constexpr unsigned kTcpTimeoutMs = 20'000;

void set_tcp_options(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kTcpTimeoutMs, sizeof kTcpTimeoutMs);
}

}  // namespace

struct Gate::State {
  GateOptions options;
  Admission& admission;
  Problems& problems;
  HandOver hand_over;
  EventLoop loop;
  std::map<std::uint64_t, UnixListener> unix_listeners;  // by the loop's ids, as the next
  std::map<std::uint64_t, Socket> tcp_listeners;
  struct Watched {
    std::shared_ptr<Admission::Connection> connection;
    int grpc_fd;
  };
  std::map<std::uint64_t, Watched> connections;

  State(GateOptions o, Admission& a, Problems& p)
      : options(std::move(o)), admission(a), problems(p) {}

  void ready(std::uint64_t id);
  void tick();
  void accept(int listener, bool local);
  void take_local(Socket socket);
  void take_tcp(Socket socket, const sockaddr_storage& name);
};

Gate::Gate(GateOptions options, Admission& admission, Problems& problems)
    : state_(std::make_unique<State>(std::move(options), admission, problems)) {}

Gate::~Gate() {
  stop();
}

Status Gate::listen(Address& address) {
  State& s = *state_;
  if (address.kind == Address::Kind::unix_socket) {
    auto listener = UnixListener::open(address.path, s.options.open_to_all ? 0666 : 0600);
    if (!listener) return fail(std::move(listener.error()));
    s.unix_listeners.emplace(s.loop.new_id(), std::move(*listener));
    return {};
  }
  auto sockets = listen_tcp(address);
  if (!sockets) return fail(std::move(sockets.error()));
  for (Socket& socket : *sockets) s.tcp_listeners.emplace(s.loop.new_id(), std::move(socket));
  return {};
}

Status Gate::start(HandOver hand_over) {
  State& s = *state_;
  s.hand_over = std::move(hand_over);
  if (auto opened = s.loop.open(); !opened) return opened;
  for (const auto& [id, listener] : s.unix_listeners) s.loop.add_listener(listener.fd(), id);
  for (const auto& [id, socket] : s.tcp_listeners) s.loop.add_listener(socket.fd(), id);
  s.loop.start([&s](std::uint64_t id, std::uint32_t) { s.ready(id); }, [&s] { s.tick(); });
  return {};
}

void Gate::stop() {
  State& s = *state_;
  s.loop.stop();
  for (auto& [id, listener] : s.unix_listeners) listener.remove_file();
  s.unix_listeners.clear();
  s.tcp_listeners.clear();
  for (const auto& [id, watched] : s.connections) {
    unwatch_received(watched.grpc_fd, watched.connection.get());
    s.admission.drop(watched.connection);
  }
  s.connections.clear();
}

void Gate::State::ready(std::uint64_t id) {
  if (const auto at = unix_listeners.find(id); at != unix_listeners.end())
    return accept(at->second.fd(), true);
  if (const auto at = tcp_listeners.find(id); at != tcp_listeners.end())
    return accept(at->second.fd(), false);
  const auto ended = connections.find(id);
  if (ended == connections.end()) return;
  loop.remove(ended->second.connection->fd());
  unwatch_received(ended->second.grpc_fd, ended->second.connection.get());
  admission.drop(ended->second.connection);
  connections.erase(ended);
}

void Gate::State::tick() {
  admission.expire(Admission::Clock::now());
  for (auto& [id, listener] : unix_listeners) {
    if (listener.is_reachable()) continue;
    accept(listener.fd(), true);
    report_reopened(problems, listener.path(), listener.reopen());
    loop.add_listener(listener.fd(), id);
  }
}

void Gate::State::accept(int listener, bool local) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    Socket socket(::accept4(listener, reinterpret_cast<sockaddr*>(&name), &size,
                            SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (!loop.pause_after(errno, problems)) continue;
      return;
    }
    if (in_reserve(socket.fd(), options.limits)) {
      report_reserve(problems, options.limits);
      continue;
    }
    if (local)
      take_local(std::move(socket));
    else
      take_tcp(std::move(socket), name);
  }
}

void Gate::State::take_local(Socket socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return;
  const auto& users = options.local_users;
  if (std::find(users.begin(), users.end(), UserId(who.uid)) == users.end()) return;
  unwatch_received(socket.fd());
  hand_over(socket.release());
}

void Gate::State::take_tcp(Socket socket, const sockaddr_storage& name) {
  Socket watched(::fcntl(socket.fd(), F_DUPFD_CLOEXEC, 0));
  if (!watched) {
    loop.pause_after(errno, problems);
    return;
  }
  set_tcp_options(socket.fd());
  const auto connection = admission.admit({peer_text(name), machine_text(name)}, std::move(watched),
                                          Admission::Clock::now());
  const std::uint64_t id = loop.new_id();
  connections.emplace(id, Watched{connection, socket.fd()});
  watch_received(socket.fd(), connection);
  // Once the connection ends, by whichever side, and not before.
  loop.add(connection->fd(), id, EPOLLRDHUP);
  hand_over(socket.release());
}

}  // namespace ares::rpc
