#include "rpc/client/local_transport.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "auth/session_table.h"
#include "rpc/wire/local_frame.h"

namespace ares::rpc {
namespace {

constexpr std::size_t kMaxAnswer = 1u << 30;  // long job listings
constexpr std::size_t kChunk = 64 << 10;
constexpr std::chrono::milliseconds kReconnectInterval{20};  // between tries to connect

int milliseconds_until(std::optional<Transport::Clock::time_point> until) {
  if (!until) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Transport::Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

// Whether the process that listens belongs to `user`, or to root, who may do everything.
bool listens_as(const Socket& socket, UserId user) {
  ucred server{};
  socklen_t size = sizeof server;
  return ::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &server, &size) == 0 &&
         (UserId(server.uid) == user || server.uid == 0);
}

}  // namespace

struct LocalTransport::Link {
  Socket socket;
  std::string output;   // not yet sent
  std::string input;    // incomplete frame
  std::string refusal;  // text that the server sent before it closed
  bool used = false;
  bool is_controller = false;  // as the system says
};

LocalTransport::LocalTransport(const Address& address, UserId server_uid)
    : peer_(to_string(address)), path_(call_socket(address)), server_uid_(server_uid) {}

LocalTransport::~LocalTransport() {
  shut_down();
}

Error LocalTransport::unavailable(const std::string& why) const {
  return {ErrorCode::unavailable, "the controller at " + peer_ + " is unavailable (" + why + ")"};
}

Error LocalTransport::timed_out() const {
  return {ErrorCode::unavailable, "the controller at " + peer_ + " did not answer in time"};
}

// Detects a connection that was closed while idle, before a request is sent on it.
bool LocalTransport::connected() {
  if (link_ && link_->used && calls_.empty()) {
    char byte;
    const ssize_t n = ::recv(link_->socket.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN)) link_.reset();
  }
  return link_ != nullptr;
}

Result<std::shared_ptr<LocalTransport::Link>> LocalTransport::connect() {
  if (connected()) return link_;
  auto link = std::make_shared<Link>();
  link->socket = stream_socket(AF_UNIX, SOCK_NONBLOCK);
  const sockaddr_un name = unix_name(path_);
  if (!link->socket ||
      ::connect(link->socket.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    return fail(unavailable(errno == EAGAIN ? "too many wait to be let in" : reason(errno)));
  if (!wake_) wake_ = Socket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return fail(unavailable(reason(errno)));
  link->is_controller = listens_as(link->socket, server_uid_);
  return link_ = link;
}

Result<LocalTransport::Calls::iterator> LocalTransport::send(const api::Sealed& request,
                                                             Clock::time_point deadline,
                                                             Done* done) {
  auto link = connect();
  if (!link) return fail(std::move(link.error()));
  if (request.mac().empty() && !(*link)->is_controller)
    return fail(ErrorCode::unauthenticated, std::string(auth::kSessionUnknown));
  while (++last_call_ == 0 || calls_.contains(last_call_)) {
  }
  const auto call = calls_.try_emplace(last_call_, Call{*link, deadline, {}, {}}).first;
  if (done) {
    call->second.done = std::move(*done);
    deadlines_.emplace(deadline, call->first);
  }
  const bool fresh = !std::exchange((*link)->used, true);
  (*link)->output += frame(call->first, kSealedFrame, request.SerializeAsString());
  flush(**link);
  // Wakes the reader so that it polls the new connection or sends the rest.
  if (reading_ && (fresh || !(*link)->output.empty())) wake();
  return call;
}

// Sends what the socket accepts. Reading detects a disconnect, after earlier answers.
void LocalTransport::flush(Link& link) {
  while (!link.output.empty()) {
    const ssize_t n =
        ::send(link.socket.fd(), link.output.data(), link.output.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) link.output.clear();
    if (n <= 0) return;
    link.output.erase(0, static_cast<std::size_t>(n));
  }
}

void LocalTransport::finish(Calls::iterator call, Result<api::Sealed> result) {
  if (call->second.done) {
    deadlines_.erase({call->second.deadline, call->first});
    finished_.emplace_back(std::move(call->second.done), std::move(result));
    calls_.erase(call);
  } else {
    call->second.result = std::move(result);
  }
  changed_.notify_all();
}

// A copy: the caller may name link_ itself, which is reset here.
void LocalTransport::drop_link(std::shared_ptr<Link> link, const std::string& why) {
  if (link_ == link) link_.reset();
  const Error error = unavailable(link->refusal.empty() ? why : link->refusal);
  for (auto call = calls_.begin(); call != calls_.end();) {
    const auto next = std::next(call);
    if (call->second.link == link && !call->second.result) finish(call, fail(error));
    call = next;
  }
}

// Tells the server that the answer is no longer needed.
void LocalTransport::cancel(Calls::iterator call) {
  Link& link = *call->second.link;
  link.output += frame(call->first, kCancelFrame, {});
  flush(link);
}

void LocalTransport::process_answers(Link& link) {
  std::size_t at = 0;
  while (link.input.size() - at >= kHeadBytes) {
    const auto head = read_head(std::string_view(link.input).substr(at));
    if (!head || head->size > kMaxAnswer) {
      link.socket.close();
      return;
    }
    if (link.input.size() - at < kHeadBytes + head->size) {
      link.input.reserve(at + kHeadBytes + head->size);
      break;
    }
    const std::string_view body = std::string_view(link.input).substr(at + kHeadBytes, head->size);
    at += kHeadBytes + head->size;
    if (head->call == 0) link.refusal = body;
    const auto call = calls_.find(head->call);  // may be a call that was given up
    if (call == calls_.end() || call->second.link.get() != &link || call->second.result) continue;
    api::Sealed sealed;
    if (head->code != kSealedFrame) {
      const ErrorCode code = refusal_code(head->code);
      finish(call, fail(code == ErrorCode::unavailable ? unavailable(std::string(body))
                                                       : Error{code, std::string(body)}));
    } else if (sealed.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
      finish(call, std::move(sealed));
    } else {
      finish(call, fail(ErrorCode::internal, "the answer of " + peer_ + " cannot be read"));
    }
  }
  link.input.erase(0, at);
}

void LocalTransport::receive(const std::shared_ptr<Link>& link) {
  std::array<char, kChunk> chunk;
  for (;;) {
    const ssize_t n = ::recv(link->socket.fd(), chunk.data(), chunk.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return drop_link(link, n == 0 ? "it has closed the connection" : reason(errno));
    link->input.append(chunk.data(), static_cast<std::size_t>(n));
    process_answers(*link);
    if (!link->socket) return drop_link(link, "what it says is not of Ares");
    if (static_cast<std::size_t>(n) < chunk.size()) return;
  }
}

// Unlocks the mutex and waits until the socket is ready, wake() is called or `until` is reached; then sends and receives.
// Only one thread at a time. `link` may be null: then it waits for wake() and `until` only.
void LocalTransport::poll_once(const std::shared_ptr<Link>& link,
                               std::optional<Clock::time_point> until) {
  const bool sends = link && !link->output.empty();
  pollfd ready[2] = {
      {link ? link->socket.fd() : -1, static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN), 0},
      {wake_.fd(), POLLIN, 0}};
  reading_ = true;
  mutex_.unlock();
  ::poll(ready, 2, milliseconds_until(until));
  mutex_.lock();
  reading_ = false;
  changed_.notify_all();
  if (ready[1].revents != 0) {
    std::uint64_t count;
    [[maybe_unused]] const ssize_t n = ::read(wake_.fd(), &count, sizeof count);
  }
  if (!link) return;
  if ((ready[0].revents & POLLOUT) != 0) flush(*link);
  if ((ready[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive(link);
}

Result<api::Sealed> LocalTransport::call(const api::Sealed& request, Clock::time_point deadline) {
  Lock lock(mutex_);
  auto sent = send(request, deadline, nullptr);
  if (!sent) return fail(std::move(sent.error()));
  Call& call = (*sent)->second;
  while (!call.result && Clock::now() < deadline) {
    if (reading_ || thread_.joinable())
      changed_.wait_until(lock, deadline);
    else
      poll_once(call.link, deadline);
  }
  Result<api::Sealed> result =
      call.result ? std::move(*call.result) : Result<api::Sealed>(fail(timed_out()));
  if (!call.result) cancel(*sent);
  calls_.erase(*sent);
  return result;
}

void LocalTransport::call_async(api::Sealed request, Clock::time_point deadline, Done done) {
  Error refusal = unavailable("the client is ending");
  {
    const Lock lock(mutex_);
    if (!shut_down_) {
      const auto sent = send(request, deadline, &done);
      if (sent) {
        if (!thread_.joinable())
          thread_ = std::jthread([this] { run(); });
        else if (reading_ && deadlines_.begin()->second == (*sent)->first)
          wake();
        return;
      }
      refusal = sent.error();
    }
  }
  done(fail(std::move(refusal)));
}

void LocalTransport::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_.fd(), &one, sizeof one);
}

// The thread: reads for all callers, runs callbacks of asynchronous calls, checks their deadlines.
void LocalTransport::run() {
  Lock lock(mutex_);
  for (;;) {
    while (!deadlines_.empty() && deadlines_.begin()->first <= Clock::now()) {
      const auto call = calls_.find(deadlines_.begin()->second);
      cancel(call);
      finish(call, fail(timed_out()));
    }
    if (!finished_.empty()) {
      auto [done, result] = std::move(finished_.front());
      finished_.pop_front();
      lock.unlock();
      done(std::move(result));
      done = nullptr;
      lock.lock();
      continue;
    }
    if (shut_down_) return;
    if (reading_) {  // a caller began to read before the thread started
      changed_.wait(lock);
      continue;
    }
    std::optional<Clock::time_point> until;
    if (!deadlines_.empty()) until = deadlines_.begin()->first;
    poll_once(link_, until);
  }
}

void LocalTransport::await(std::chrono::milliseconds at_most) {
  const auto until = Clock::now() + at_most;
  Lock lock(mutex_);
  // If connected, the server does not answer: wait for the full time before the next call.
  const bool there = connected();
  while (there || !connect()) {
    const auto left = until - Clock::now();
    if (left <= Clock::duration::zero()) return;
    lock.unlock();
    std::this_thread::sleep_for(there ? left : std::min<Clock::duration>(left, kReconnectInterval));
    lock.lock();
  }
}

void LocalTransport::shut_down() {
  std::jthread ending;  // the destructor joins it
  {
    const Lock lock(mutex_);
    shut_down_ = true;
    while (!deadlines_.empty())
      finish(calls_.find(deadlines_.begin()->second), fail(unavailable("the client is ending")));
    if (wake_) wake();
    changed_.notify_all();
    ending = std::move(thread_);
  }
}

}  // namespace ares::rpc
