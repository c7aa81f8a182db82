#include "aresstepd/steps/link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <utility>

namespace ares::stepd {
namespace {

// Bytes that wait for the other side before its sources have to wait, and from which they go on.
constexpr std::size_t kHigh = std::size_t{1} << 20;
constexpr std::size_t kLow = kHigh / 4;
constexpr std::size_t kRead = std::size_t{1} << 16;

}  // namespace

FrameLink::FrameLink(os::Fd socket, Reactor& reactor, Events events, std::string_view received)
    : socket_(std::move(socket)), reactor_(reactor), events_(std::move(events)) {
  reader_.add(received);
  if (!received.empty())
    reactor_.post([this, alive = alive_] {
      if (*alive) take_frames();
    });
  ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
  watched_ = EPOLLIN;
  reactor_.watch(socket_.get(), watched_, [this](std::uint32_t ready_for) { ready(ready_for); });
}

FrameLink::~FrameLink() {
  *alive_ = false;
  if (socket_) reactor_.forget(socket_.get());
}

void FrameLink::send(steps::FrameKind kind, std::uint32_t number, std::string_view payload) {
  if (failed_ || closing_) return;
  if (!waiting_.empty()) {
    append_frame(waiting_, kind, number, payload);
    return update();
  }
  // What the socket takes at once is not copied.
  std::string header;
  steps::append_header(header, kind, number, payload.size());
  iovec parts[] = {{header.data(), header.size()},
                   {const_cast<char*>(payload.data()), payload.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const ssize_t n = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && errno != EAGAIN && errno != EINTR)
    return fail(os::errno_error("the connection is broken").message);
  const std::size_t sent = n < 0 ? 0 : static_cast<std::size_t>(n);
  if (sent < header.size()) waiting_.append(header, sent);
  waiting_.append(payload.substr(sent < header.size() ? 0 : sent - header.size()));
  update();
}

void FrameLink::close_when_sent() {
  closing_ = true;
  if (waiting_.empty()) end_sending();
  update();
}

void FrameLink::pause_reading(bool pause) {
  paused_ = pause;
  update();
}

void FrameLink::ready(std::uint32_t events) {
  const std::shared_ptr<bool> alive = alive_;
  if (events & EPOLLOUT) write_waiting();
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !failed_ && !paused_) read_frames();
  if (*alive) update();
}

void FrameLink::read_frames() {
  char bytes[kRead];
  const ssize_t n = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0) return fail(os::errno_error("the connection is broken").message);
  if (n == 0) return fail("the connection was closed");
  if (closing_) return;
  reader_.add({bytes, static_cast<std::size_t>(n)});
  take_frames();
}

// A TCP socket that is closed while input waits in it resets the connection, and the other side may lose
// what it was sent last. So the other side closes first.
void FrameLink::end_sending() {
  ::shutdown(socket_.get(), SHUT_WR);
  paused_ = false;
}

void FrameLink::take_frames() {
  const std::shared_ptr<bool> alive = alive_;
  while (*alive && !failed_ && !closing_) {
    Result<std::optional<steps::Frame>> frame = reader_.next();
    if (!frame) return fail(frame.error().message);
    if (!*frame) return;
    events_.received(**frame);
  }
}

void FrameLink::write_waiting() {
  while (sent_ < waiting_.size()) {
    const ssize_t n = ::send(socket_.get(), waiting_.data() + sent_, waiting_.size() - sent_,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return fail(os::errno_error("the connection is broken").message);
    sent_ += static_cast<std::size_t>(n);
  }
  if (sent_ == waiting_.size()) {
    waiting_.clear();
    sent_ = 0;
    if (closing_) end_sending();
  } else if (sent_ > kHigh) {
    waiting_.erase(0, sent_);
    sent_ = 0;
  }
}

void FrameLink::update() {
  if (failed_) return;
  const std::uint32_t wanted = (paused_ ? 0U : static_cast<std::uint32_t>(EPOLLIN)) |
                               (waiting_.empty() ? 0U : static_cast<std::uint32_t>(EPOLLOUT));
  if (wanted != watched_) reactor_.change(socket_.get(), watched_ = wanted);
  const std::size_t left = waiting_.size() - sent_;
  const bool congested = congested_ ? left > kLow : left > kHigh;
  if (congested == congested_) return;
  congested_ = congested;
  if (events_.congested)
    reactor_.post([this, alive = alive_, congested] {
      if (*alive) events_.congested(congested);
    });
}

void FrameLink::fail(const std::string& why) {
  if (failed_) return;
  failed_ = true;
  reactor_.forget(socket_.get());
  socket_.reset();
  reactor_.post([this, alive = alive_, why] {
    if (*alive) events_.closed(why);
  });
}

}  // namespace ares::stepd
