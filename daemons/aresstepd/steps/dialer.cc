#include "aresstepd/steps/dialer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "auth/shared_key.h"
#include "base/printable.h"

namespace ares::stepd {
namespace {

constexpr std::size_t kNonceBytes = 16;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// "192.0.2.1:4711" or "[2001:db8::1]:4711".
Result<SocketAddress> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  std::uint16_t port = 0;
  if (colon != std::string::npos)
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  SocketAddress address;
  sockaddr_in four{};
  sockaddr_in6 six{};
  if (port != 0 && ::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    address.size = sizeof four;
    __builtin_memcpy(&address.storage, &four, sizeof four);
  } else if (port != 0 && ::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    address.size = sizeof six;
    __builtin_memcpy(&address.storage, &six, sizeof six);
  } else {
    return fail(ErrorCode::invalid_argument, quote(text) + " is not the address of a node daemon");
  }
  return address;
}

}  // namespace

Dialer::Dialer(Reactor& reactor, const std::string& address, steps::Dial dial, std::string key,
               Done done)
    : reactor_(reactor), dial_(std::move(dial)), key_(std::move(key)), done_(std::move(done)) {
  dial_.nonce = auth::random_bytes(kNonceBytes);
  if (Status begun = begin(address); !begun) finish(fail(begun.error()));
}

Dialer::~Dialer() {
  *alive_ = false;
  if (socket_) reactor_.forget(socket_.get());
}

Status Dialer::begin(const std::string& text) {
  Result<SocketAddress> address = parse_address(text);
  if (!address) return fail(address.error());
  socket_.reset(
      ::socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) return fail(os::errno_error("cannot make a socket"));
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address->storage),
                address->size) != 0 &&
      errno != EINPROGRESS)
    return fail(os::errno_error("cannot connect to " + text));
  reactor_.watch(socket_.get(), EPOLLOUT, [this](std::uint32_t events) { ready(events); });
  return {};
}

void Dialer::ready(std::uint32_t) {
  if (finished_) return;
  if (!connected_) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0)
      return finish(fail(os::errno_error("cannot connect to the node daemon there", error)));
    connected_ = true;
    return reactor_.change(socket_.get(), EPOLLIN);
  }
  // A byte at a time, so that none of what follows the answer is taken. The lines are short.
  for (char byte = 0;;) {
    const ssize_t n = ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0)
      return finish(fail(ErrorCode::unavailable, "the node daemon there closed the connection"));
    if (byte != '\n') {
      line_ += byte;
      if (line_.size() > steps::kLongestLine)
        return finish(fail(ErrorCode::invalid_argument, "the node daemon there talks nonsense"));
      continue;
    }
    const bool answered = !theirs_.empty();
    if (Status status = advance(std::exchange(line_, {})); !status)
      return finish(fail(status.error()));
    if (answered) return;
  }
}

Status Dialer::advance(const std::string& line) {
  if (!theirs_.empty()) {
    if (Status known = steps::read_answer(line, dial_, theirs_, key_); !known) return known;
    reactor_.forget(socket_.get());
    finish(std::move(socket_));
    return {};
  }
  Result<std::string> nonce = steps::read_greeting(line);
  if (!nonce) return fail(nonce.error());
  if (nonce->empty()) return fail(ErrorCode::invalid_argument, "the greeting has no number");
  theirs_ = std::move(*nonce);
  const std::string dialed = steps::dial_line(dial_, theirs_, key_);
  if (::send(socket_.get(), dialed.data(), dialed.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(dialed.size()))
    return fail(os::errno_error("cannot write to the node daemon there"));
  return {};
}

void Dialer::finish(Result<os::Fd> result) {
  if (std::exchange(finished_, true)) return;
  if (socket_) reactor_.forget(socket_.get());
  auto shared = std::make_shared<Result<os::Fd>>(std::move(result));
  reactor_.post([this, alive = alive_, shared] {
    if (*alive) done_(std::move(*shared));
  });
}

}  // namespace ares::stepd
