#include "aresstepd/steps/pmi1_service.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ares::stepd {
namespace {

constexpr const char* kExchange = "pmi1";  // they follow each other, so one name is enough

}  // namespace

Pmi1Service::Pmi1Service(pmi::TaskMap map, pmi::Pmi1Server server, Reactor& reactor, Send send)
    : map_(std::move(map)),
      server_(std::move(server)),
      reactor_(reactor),
      send_(std::move(send)),
      peers_(map_.local_ranks().size()) {}

Pmi1Service::~Pmi1Service() {
  for (const Peer& peer : peers_)
    if (peer.socket) reactor_.forget(peer.socket.get());
}

Result<std::unique_ptr<Pmi1Service>> Pmi1Service::make(pmi::TaskMap map, std::string space,
                                                       Reactor& reactor, Send send) {
  Result<pmi::Pmi1Server> server = pmi::Pmi1Server::create(map, std::move(space));
  if (!server) return fail(server.error());
  return std::unique_ptr<Pmi1Service>(
      new Pmi1Service(std::move(map), std::move(*server), reactor, std::move(send)));
}

Result<os::Fd> Pmi1Service::connect(std::uint32_t local) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(os::errno_error("cannot make a socket pair"));
  Peer& peer = peers_[local];
  peer.rank = map_.local_ranks()[local];
  peer.socket.reset(pair[0]);
  reactor_.watch(peer.socket.get(), EPOLLIN,
                 [this, local](std::uint32_t events) { ready(local, events); });
  return os::Fd(pair[1]);
}

void Pmi1Service::describe(std::uint32_t local, int inherited,
                           std::vector<std::string>& environment) const {
  remove_variables(environment);
  for (const auto& [name, value] : pmi::environment(map_, map_.local_ranks()[local], inherited))
    environment.push_back(name + "=" + value);
}

void Pmi1Service::ready(std::size_t local, std::uint32_t events) {
  Peer& peer = peers_[local];
  if (!peer.socket) return;
  if (events & EPOLLOUT) return write_waiting(local);
  char bytes[4096];
  const ssize_t n = ::recv(peer.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0) return act(server_.on_bytes(peer.rank, {bytes, static_cast<std::size_t>(n)}));
  reactor_.forget(peer.socket.get());
  peer.socket.reset();
  act(server_.on_closed(peer.rank));
}

// A task is read again when it has taken what it was answered.
void Pmi1Service::write_waiting(std::size_t local) {
  Peer& peer = peers_[local];
  while (!peer.waiting.empty()) {
    const ssize_t n = ::send(peer.socket.get(), peer.waiting.data(), peer.waiting.size(),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) peer.waiting.clear();  // its end is noticed when it is read
    if (n > 0) peer.waiting.erase(0, static_cast<std::size_t>(n));
  }
  reactor_.change(peer.socket.get(), peer.waiting.empty() ? EPOLLIN : EPOLLOUT);
}

void Pmi1Service::act(pmi::Outcome outcome) {
  const std::vector<std::uint32_t>& ranks = map_.local_ranks();
  for (const pmi::Reply& reply : outcome.replies) {
    const auto at = std::find(ranks.begin(), ranks.end(), reply.rank) - ranks.begin();
    Peer& peer = peers_[static_cast<std::size_t>(at)];
    if (!peer.socket) continue;
    peer.waiting += reply.line;
    write_waiting(static_cast<std::size_t>(at));
  }
  if (outcome.contribution)
    send_(steps::FrameKind::contribute, 0,
          encode(steps::Contribution{kExchange, {}, std::move(*outcome.contribution)}));
  if (outcome.abort)
    send_(steps::FrameKind::abort, static_cast<std::uint32_t>(outcome.abort->exit_code),
          "task " + std::to_string(outcome.abort->rank) + ": " + outcome.abort->message);
}

void Pmi1Service::gathered(const steps::Gathered& exchange) {
  if (exchange.name == kExchange) act(server_.on_fence(exchange.parts));
}

}  // namespace ares::stepd
