#include "rpc/server/local_server.h"

#include <sys/eventfd.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "rpc/server/listen.h"
#include "rpc/server/local_peer.h"
#include "rpc/wire/local_frame.h"
#include "rpc/wire/socket.h"

namespace ares::rpc {
namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptedAtOnce = 64;
constexpr int kNoDescriptorsMs = 100;  // until the next accept()
constexpr std::uint64_t kWakeId = 0;

bool watch(int epoll, int fd, std::uint64_t id, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 ||
         ::epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0;
}

}  // namespace

struct LocalServer::State {
  struct Listener {
    Socket socket;
    std::string path;
  };
  struct User {
    std::size_t connections = 0;
    std::size_t partial_bytes = 0;  // bytes
  };
  struct Connected {
    std::shared_ptr<LocalPeer> peer;
    std::size_t partial_bytes = 0;
  };

  const CallContext call_context;
  const LocalLimits limits;
  Socket epoll, wake;
  std::map<std::uint64_t, Listener> listeners;  // this and the next by id
  std::map<std::uint64_t, Connected> peers;
  std::map<UserId, User> users;
  std::uint64_t last_id = kWakeId;
  bool accepting = true;
  std::jthread thread;

  State(CallContext d, LocalLimits l) : call_context(std::move(d)), limits(l) {}

  void work(const std::stop_token& stop);
  void set_accepting(bool accept);
  void accept(Listener& listener);
  void welcome(Socket socket);
  void serve(std::uint64_t id, std::uint32_t events);
  void drop(std::map<std::uint64_t, Connected>::iterator found);
};

LocalServer::LocalServer(CallContext call_context, LocalLimits limits)
    : state_(std::make_unique<State>(std::move(call_context), limits)) {}

LocalServer::~LocalServer() {
  stop();
}

Status LocalServer::listen(const Address& address) {
  Address calls = address;
  calls.path = call_socket(address);
  if (auto clear = clear_stale_socket(calls); !clear) return clear;
  Socket socket = stream_socket(AF_UNIX, SOCK_NONBLOCK);
  const sockaddr_un name = unix_name(calls.path);
  if (!socket || ::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      ::listen(socket.fd(), kBacklog) != 0)
    return fail(ErrorCode::unavailable,
                "cannot listen on " + to_string(calls) + ": " + reason(errno));
  state_->listeners.emplace(++state_->last_id, State::Listener{std::move(socket), calls.path});
  return open_to_all(calls);
}

Status LocalServer::start() {
  State& s = *state_;
  s.epoll = Socket(::epoll_create1(EPOLL_CLOEXEC));
  s.wake = Socket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!s.epoll || !s.wake || !watch(s.epoll.fd(), s.wake.fd(), kWakeId, EPOLLIN))
    return fail(ErrorCode::unavailable, "cannot take local calls: " + reason(errno));
  s.set_accepting(true);
  s.thread = std::jthread([&s](const std::stop_token& stop) { s.work(stop); });
  return {};
}

void LocalServer::stop() {
  State& s = *state_;
  if (s.thread.joinable()) {
    s.thread.request_stop();
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(s.wake.fd(), &one, sizeof one);
    s.thread.join();
  }
  for (const auto& [id, listener] : s.listeners) ::unlink(listener.path.c_str());
  s.listeners.clear();
}

void LocalServer::State::set_accepting(bool accept) {
  accepting = accept;
  for (const auto& [id, listener] : listeners)
    watch(epoll.fd(), listener.socket.fd(), id, accept ? std::uint32_t{EPOLLIN} : 0U);
}

void LocalServer::State::work(const std::stop_token& stop) {
  std::array<epoll_event, 64> events;
  while (!stop.stop_requested()) {
    const int count = ::epoll_wait(epoll.fd(), events.data(), static_cast<int>(events.size()),
                                   accepting ? -1 : kNoDescriptorsMs);
    if (!accepting) set_accepting(true);
    for (int i = 0; i < count && !stop.stop_requested(); ++i) {
      const std::uint64_t id = events[static_cast<std::size_t>(i)].data.u64;
      if (id == kWakeId) continue;
      if (const auto found = listeners.find(id); found != listeners.end())
        accept(found->second);
      else
        serve(id, events[static_cast<std::size_t>(i)].events);
    }
  }
  while (!peers.empty()) drop(peers.begin());
}

void LocalServer::State::accept(Listener& listener) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    Socket socket(::accept4(listener.socket.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      welcome(std::move(socket));
      continue;
    }
    // Out of descriptors or memory: pending connections would wake the thread continuously.
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) set_accepting(false);
    if (errno != EINTR && errno != ECONNABORTED) return;
  }
}

void LocalServer::State::welcome(Socket socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return;
  const UserId uid(credentials.uid);
  const auto peer =
      std::make_shared<LocalPeer>(std::move(socket), uid, epoll.fd(), ++last_id, limits);
  User& user = users[uid];
  if (peers.size() >= limits.connections || user.connections >= limits.connections_per_user) {
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
  peers.emplace(last_id, Connected{peer, 0});
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
