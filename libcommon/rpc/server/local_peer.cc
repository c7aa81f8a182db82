#include "rpc/server/local_peer.h"

#include <array>
#include <cerrno>
#include <utility>

#include "rpc/wire/local_frame.h"

namespace ares::rpc {
namespace {

constexpr std::size_t kChunk = 64 << 10;
constexpr std::size_t kEnvelope =
    64 << 10;  // so that slightly too large requests get the answer of CallContext
const char* const kPeer = "unix";

}  // namespace

bool LocalPeer::watch() {
  const std::lock_guard lock(mutex_);
  epoll_events_ = EPOLLIN | EPOLLRDHUP;
  epoll_event event{};
  event.events = epoll_events_;
  event.data.u64 = id_;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket_.fd(), &event) == 0;
}

bool LocalPeer::full() const {
  return calls_.size() >= limits_.calls_per_connection ||
         output_.size() > limits_.unsent_per_connection;
}

// Sets the events to wait for. Requests left in `input_` after a pause are processed when the
// socket is writable, which it is at once.
void LocalPeer::update_epoll() {
  if (!socket_) return;
  const bool resumes = paused_ && !full();
  const std::uint32_t wanted =
      EPOLLRDHUP | (paused_ ? 0U : EPOLLIN) | (!output_.empty() || resumes ? EPOLLOUT : 0U);
  if (wanted == epoll_events_) return;
  epoll_events_ = wanted;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = id_;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket_.fd(), &event);
}

// A disconnect is detected when reading.
void LocalPeer::flush() {
  std::size_t sent = 0;
  while (socket_ && sent < output_.size()) {
    const ssize_t n =
        ::send(socket_.fd(), output_.data() + sent, output_.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) sent = output_.size();
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  output_.erase(0, sent);
}

void LocalPeer::send_frame(const std::string& frame) {
  const std::lock_guard lock(mutex_);
  if (!socket_) return;
  output_ += frame;
  flush();
  update_epoll();
}

void LocalPeer::answer(std::uint32_t call, Result<api::Sealed> result) {
  const std::string bytes = result ? frame(call, kSealedFrame, result->SerializeAsString())
                                   : refusal_frame(call, result.error());
  std::shared_ptr<Answer> done;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  if (const auto found = calls_.find(call); found != calls_.end()) {
    done = std::move(found->second);
    calls_.erase(found);
  }
  if (!socket_) return;
  output_ += bytes;
  flush();
  update_epoll();
}

bool LocalPeer::read() {
  std::array<char, kChunk> chunk;
  const ssize_t n = ::recv(socket_.fd(), chunk.data(), chunk.size(), 0);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  const auto skipped = std::min<std::uint64_t>(to_discard_, static_cast<std::uint64_t>(n));
  to_discard_ -= skipped;
  input_.append(chunk.data() + skipped, static_cast<std::size_t>(n) - skipped);
  return true;
}

bool LocalPeer::ready(std::uint32_t events, const CallContext& call_context) {
  bool reads;
  {
    const std::lock_guard lock(mutex_);
    if ((events & EPOLLOUT) != 0) flush();
    if (paused_) paused_ = full();
    if (paused_ && (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) return false;
    reads = !paused_;
  }
  if (reads && (events & ~std::uint32_t{EPOLLOUT}) != 0 && !read()) return false;
  if (reads && !read_requests(call_context)) return false;
  const std::lock_guard lock(mutex_);
  update_epoll();
  return true;
}

bool LocalPeer::read_requests(const CallContext& call_context) {
  const std::size_t most = call_context.max_request_bytes + kEnvelope;
  std::size_t at = 0;
  bool valid = true;
  while (valid && input_.size() - at >= kHeadBytes) {
    {
      const std::lock_guard lock(mutex_);
      paused_ = full();
      if (paused_) break;
    }
    const auto head = read_head(std::string_view(input_).substr(at));
    if (!head) {
      valid = false;
    } else if (head->size > most) {
      send_frame(
          refusal_frame(head->call, {ErrorCode::invalid_argument,
                                     "the request is larger than the controller accepts: it has " +
                                         std::to_string(head->size) + " bytes, at most " +
                                         std::to_string(call_context.max_request_bytes)}));
      const std::uint64_t whole = kHeadBytes + std::uint64_t{head->size};
      const std::uint64_t here = std::min<std::uint64_t>(whole, input_.size() - at);
      to_discard_ = whole - here;
      at += static_cast<std::size_t>(here);
    } else if (input_.size() - at < kHeadBytes + head->size) {
      break;
    } else {
      const auto body = std::string_view(input_).substr(at + kHeadBytes, head->size);
      at += kHeadBytes + head->size;
      valid = handle_frame(head->call, head->code, body, call_context);
    }
  }
  input_.erase(0, at);
  return valid;
}

bool LocalPeer::handle_frame(std::uint32_t call, std::uint32_t code, std::string_view body,
                             const CallContext& call_context) {
  if (code == kCancelFrame) {
    std::shared_ptr<Answer> cancelled;
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = calls_.find(call); found != calls_.end()) cancelled = found->second;
    }
    if (cancelled) cancelled->abandon();
    return true;
  }
  api::Sealed request;
  if (code != kSealedFrame || call == 0 ||
      !request.ParseFromArray(body.data(), static_cast<int>(body.size())))
    return false;
  const auto answer = std::make_shared<Answer>(
      [peer = shared_from_this(), call](Result<api::Sealed> result) {
        peer->answer(call, std::move(result));
      },
      kPeer);
  {
    const std::lock_guard lock(mutex_);
    if (!calls_.emplace(call, answer).second) return false;
  }
  call_context.handle(answer, request);
  return true;
}

void LocalPeer::close() {
  std::map<std::uint32_t, std::shared_ptr<Answer>> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(calls_);
  }
  for (const auto& [call, answer] : calls) answer->abandon();
  const std::lock_guard lock(mutex_);
  socket_.close();
}

}  // namespace ares::rpc
