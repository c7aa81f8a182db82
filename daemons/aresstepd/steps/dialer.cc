#include "aresstepd/steps/dialer.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "auth/shared_key.h"
#include "os/sockets/tcp.h"

namespace ares::stepd {
namespace {

constexpr std::size_t kNonceBytes = 16;

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
  Result<os::Fd> begun = os::begin_tcp(text);
  if (!begun) return fail(begun.error());
  socket_ = std::move(*begun);
  reactor_.watch(socket_.get(), EPOLLOUT, [this](std::uint32_t events) { ready(events); });
  return {};
}

void Dialer::ready(std::uint32_t) {
  if (finished_) return;
  if (!connected_) {
    if (Status connected = os::take_connect_error(socket_.get()); !connected)
      return finish(fail(connected.error()));
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
