#include "kubernetes/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace ares::kubernetes {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

TcpProxy::TcpProxy(int target) : target_(target) {
  listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) < 0 ||
      ::listen(listener_.get(), 64) < 0 ||
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) < 0)
    return;
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

TcpProxy::~TcpProxy() {
  is_over_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
}

void TcpProxy::wake() {
  ::eventfd_write(wake_.get(), 1);
}

void TcpProxy::accept() {
  os::Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client || is_refusing_) return;
  os::Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(target_);
  if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return;
  ++accepted_;
  pairs_.push_back({std::move(client), std::move(server)});
}

bool TcpProxy::pass(const os::Fd& from, const os::Fd& to) {
  char buffer[65536];
  const ssize_t n = ::recv(from.get(), buffer, sizeof buffer, 0);
  for (ssize_t at = 0; at < n;) {
    const ssize_t sent =
        ::send(to.get(), buffer + at, static_cast<std::size_t>(n - at), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += sent;
  }
  return n > 0;
}

void TcpProxy::run() {
  while (!is_over_) {
    std::vector<pollfd> ready{{wake_.get(), POLLIN, 0}};
    if (!is_stalled_) {
      ready.push_back({listener_.get(), POLLIN, 0});
      for (const Pair& pair : pairs_) {
        ready.push_back({pair.client.get(), POLLIN, 0});
        ready.push_back({pair.server.get(), POLLIN, 0});
      }
    }
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    eventfd_t count = 0;
    ::eventfd_read(wake_.get(), &count);
    if (cuts_ != seen_cuts_ || is_refusing_) {
      seen_cuts_ = cuts_;
      pairs_.clear();
      if (ready.size() > 1 && ready[1].revents != 0) accept();
      continue;
    }
    if (is_stalled_ || ready.size() == 1) continue;
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      const Pair& pair = pairs_[i];
      const bool is_alive = (ready[2 + 2 * i].revents == 0 || pass(pair.client, pair.server)) &&
                            (ready[3 + 2 * i].revents == 0 || pass(pair.server, pair.client));
      if (!is_alive) pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (ready[1].revents != 0) accept();
  }
}

}  // namespace ares::kubernetes
