#include "rpc/client/local_stream.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "auth/session_table.h"
#include "rpc/wire/local_frame.h"

namespace ares::rpc {
namespace {

constexpr std::size_t kLongestPart = 1u << 30;
constexpr std::size_t kReadAtOnce = 64 << 10;

// Whether the process that listens belongs to `user`, or to root, who may do everything.
bool listener_is(const Socket& socket, UserId user) {
  ucred server{};
  socklen_t size = sizeof server;
  return ::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &server, &size) == 0 &&
         (UserId(server.uid) == user || server.uid == 0);
}

}  // namespace

Error LocalStream::unavailable(const std::string& why) const {
  return {ErrorCode::unavailable, "the controller at " + peer_ + " is unavailable (" + why + ")"};
}

Result<std::unique_ptr<Stream>> LocalStream::open(const ClientOptions& options,
                                                  const Address& address,
                                                  const std::string& payload) {
  std::unique_ptr<LocalStream> stream(
      new LocalStream(options, to_string(address), payload, stream_socket(AF_UNIX, SOCK_NONBLOCK)));
  const sockaddr_un name = unix_name(call_socket(address));
  if (!stream->socket_ ||
      ::connect(stream->socket_.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    return fail(
        stream->unavailable(errno == EAGAIN ? "too many wait to be let in" : reason(errno)));
  Status sent;
  if (listener_is(stream->socket_, options.server_uid)) {
    api::Sealed request;
    request.set_payload(payload);
    sent = stream->send(request);
  } else {
    sent = stream->sign_and_send();
  }
  if (!sent) return fail(std::move(sent.error()));
  return std::unique_ptr<Stream>(std::move(stream));
}

Status LocalStream::sign_and_send() {
  const auto request = sealed_request(options_, payload_, seal_);
  if (!request) return fail(request.error());
  return send(*request);
}

// A request is small; the server reads it at once.
Status LocalStream::send(const api::Sealed& request) {
  const std::string bytes = frame(++call_, kSealedFrame, request.SerializeAsString());
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(socket_.fd(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    pollfd writable{socket_.fd(), POLLOUT, 0};
    if (errno != EAGAIN || ::poll(&writable, 1, static_cast<int>(options_.timeout.count())) == 0)
      return fail(unavailable(reason(errno)));
  }
  return {};
}

Result<std::optional<api::Sealed>> LocalStream::receive() {
  for (;;) {
    auto frame = take_frame();
    if (!frame || *frame) return frame;
    if (closed_) return fail(unavailable("it has closed the connection"));
    std::array<char, kReadAtOnce> chunk;
    const ssize_t n = ::recv(socket_.fd(), chunk.data(), chunk.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return std::optional<api::Sealed>();
    if (n < 0) return fail(unavailable(reason(errno)));
    closed_ = n == 0;
    input_.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

Result<std::optional<api::Sealed>> LocalStream::take_frame() {
  if (input_.size() < kHeadBytes) return std::optional<api::Sealed>();
  const auto head = read_head(input_);
  if (!head || head->size > kLongestPart) return fail(unavailable("what it says is not of Ares"));
  if (input_.size() < kHeadBytes + head->size) return std::optional<api::Sealed>();
  const std::string body = input_.substr(kHeadBytes, head->size);
  input_.erase(0, kHeadBytes + head->size);
  if (head->code != kSealedFrame && head->code != kPartFrame) {
    const ErrorCode code = refusal_code(head->code);
    // A controller that cannot tell users of this machine apart wants a credential.
    if (!seal_ && code == ErrorCode::unauthenticated && body == auth::kSessionUnknown) {
      if (Status sent = sign_and_send(); !sent) return fail(std::move(sent.error()));
      return std::optional<api::Sealed>();
    }
    return fail(code == ErrorCode::unavailable ? unavailable(body) : Error{code, body});
  }
  api::Sealed sealed;
  if (!sealed.ParseFromString(body))
    return fail(ErrorCode::internal, "the answer of " + peer_ + " cannot be read");
  return std::optional(std::move(sealed));
}

}  // namespace ares::rpc
