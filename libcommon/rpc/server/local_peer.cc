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

std::size_t most_bytes(const CallContext& call_context) {
  return call_context.max_request_bytes + kEnvelope;
}

// Memory of a large message is not kept for the small ones that follow.
void release_spare(std::string& buffer) {
  if (buffer.capacity() > kChunk && buffer.size() < buffer.capacity() / 4) buffer.shrink_to_fit();
}

}  // namespace

bool LocalPeer::watch() {
  const Lock lock(mutex_);
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
      EPOLLRDHUP | (paused_ || waits_for_turn_ ? 0U : EPOLLIN) |
      (!output_.empty() || resumes || !sending_parts_.empty() ? EPOLLOUT : 0U);
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
  release_spare(output_);
}

void LocalPeer::write(const std::string& bytes) {
  if (!socket_) return;
  output_ += bytes;
  flush();
  count_unsent();
  update_epoll();
  // One answer of any size is kept for every user.
  if (user_.load->unsent_bytes > limits_.unsent_bytes_per_user && output_.size() > bytes.size())
    ::shutdown(socket_.fd(), SHUT_RDWR);  // the server's thread sees that
}

void LocalPeer::count_unsent() {
  user_.load->unsent_bytes += output_.size() - counted_unsent_;
  counted_unsent_ = output_.size();
}

void LocalPeer::send_frame(const std::string& frame) {
  const Lock lock(mutex_);
  write(frame);
}

void LocalPeer::answer(std::uint32_t call, Result<api::Sealed> result) {
  const std::string bytes = result ? frame(call, kSealedFrame, result->SerializeAsString())
                                   : refusal_frame(call, result.error());
  std::shared_ptr<Answer> done;  // destroyed after the lock is released
  const Lock lock(mutex_);
  if (const auto found = calls_.find(call); found != calls_.end()) {
    done = std::move(found->second);
    calls_.erase(found);
    --user_.load->calls;
  }
  write(bytes);
}

void LocalPeer::send_part(std::uint32_t call, const api::Sealed& part, Responder::Taken taken) {
  const std::string bytes = frame(call, kPartFrame, part.SerializeAsString());
  bool open = false;
  {
    const Lock lock(mutex_);
    open = socket_ && calls_.contains(call);
    if (open) write(bytes);
    if (open && !output_.empty()) return sending_parts_.push_back(std::move(taken));
  }
  taken(open);
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

bool LocalPeer::ready(std::uint32_t events) {
  bool reads;
  std::vector<Responder::Taken> sent;
  {
    const Lock lock(mutex_);
    if ((events & EPOLLOUT) != 0) {
      flush();
      count_unsent();
      if (output_.empty()) sent.swap(sending_parts_);
    }
    if (paused_) paused_ = full();
    reads = !paused_ && !waits_for_turn_;
    update_epoll();
  }
  for (const Responder::Taken& taken : sent) taken(true);
  if (!reads) return (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0;
  return (events & ~std::uint32_t{EPOLLOUT}) == 0 || read();
}

bool LocalPeer::has_request(const CallContext& call_context) {
  const auto input = std::string_view(input_).substr(handled_);
  if (input.size() < kHeadBytes) return false;
  {
    const Lock lock(mutex_);
    paused_ = full();
    update_epoll();
    if (paused_) return false;
  }
  const auto head = read_head(input);
  return !head || head->size > most_bytes(call_context) || input.size() >= kHeadBytes + head->size;
}

bool LocalPeer::handle_next(const CallContext& call_context) {
  const auto input = std::string_view(input_).substr(handled_);
  const auto head = read_head(input);
  if (!head) return false;
  const std::uint64_t whole = kHeadBytes + std::uint64_t{head->size};
  const std::uint64_t here = std::min<std::uint64_t>(whole, input.size());
  bool valid = true;
  if (head->size > most_bytes(call_context)) {
    send_frame(refusal_frame(
        head->call,
        {ErrorCode::invalid_argument, "the request is larger than the controller accepts: it has " +
                                          std::to_string(head->size) + " bytes, at most " +
                                          std::to_string(call_context.max_request_bytes)}));
    to_discard_ = whole - here;
  } else {
    valid =
        handle_frame(head->call, head->code, input.substr(kHeadBytes, head->size), call_context);
  }
  handled_ += static_cast<std::size_t>(here);
  if (handled_ < kChunk && handled_ < input_.size()) return valid;
  input_.erase(0, handled_);
  handled_ = 0;
  release_spare(input_);
  return valid;
}

void LocalPeer::wait_for_turn(bool waits) {
  const Lock lock(mutex_);
  waits_for_turn_ = waits;
  update_epoll();
}

bool LocalPeer::handle_frame(std::uint32_t call, std::uint32_t code, std::string_view body,
                             const CallContext& call_context) {
  if (code == kCancelFrame) {
    std::shared_ptr<Answer> cancelled;
    {
      const Lock lock(mutex_);
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
      kPeer, "uid " + std::to_string(user_.uid.value()));
  answer->set_parts(
      [weak = weak_from_this(), call](const api::Sealed& part, Responder::Taken taken) {
        if (const auto peer = weak.lock())
          peer->send_part(call, part, std::move(taken));
        else
          taken(false);
      });
  bool too_many = false;
  {
    const Lock lock(mutex_);
    if (!calls_.emplace(call, answer).second) return false;
    too_many = ++user_.load->calls > limits_.calls_per_user;
  }
  if (too_many) {
    answer->refuse({ErrorCode::unavailable, "too many of your calls wait for an answer"});
    return true;
  }
  const bool by_socket = user_.is_known && request.credential().empty() && request.session() == 0;
  if (by_socket)
    call_context.handle_local(answer, user_.uid, user_.gid, request);
  else
    call_context.handle(answer, request);
  return true;
}

void LocalPeer::close() {
  std::map<std::uint32_t, std::shared_ptr<Answer>> calls;
  std::vector<Responder::Taken> unsent;
  {
    const Lock lock(mutex_);
    calls.swap(calls_);
    unsent.swap(sending_parts_);
    user_.load->calls -= calls.size();
  }
  for (const auto& [call, answer] : calls) answer->abandon();
  for (const Responder::Taken& taken : unsent) taken(false);
  const Lock lock(mutex_);
  socket_.close();
  output_.clear();
  count_unsent();
}

}  // namespace ares::rpc
