#include "rpc/server/listen.h"

#include <netdb.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "rpc/wire/socket.h"

namespace ares::rpc {
namespace {

// Returns 0, or the errno of the failed step.
int try_bind(int family, const sockaddr* name, socklen_t size) {
  const Socket socket = stream_socket(family);
  if (socket.fd() < 0) return errno;
  const int on = 1;  // as gRPC does; otherwise a connection in TIME_WAIT would look like a listener
  setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket.fd(), name, size) != 0 || listen(socket.fd(), 1) != 0) return errno;
  return 0;
}

}  // namespace

Status clear_stale_socket(const Address& address) {
  if (address.kind != Address::Kind::unix_socket) return {};
  struct stat file {};
  if (lstat(address.path.c_str(), &file) != 0) return {};
  if (!S_ISSOCK(file.st_mode))
    return fail(ErrorCode::failed_precondition,
                "cannot listen on " + to_string(address) + ": the file is no socket; remove it");
  const Socket socket = stream_socket(AF_UNIX);
  const sockaddr_un name = unix_name(address.path);
  if (connect(socket.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 ||
      errno == EAGAIN)
    return fail(ErrorCode::already_exists, "another process listens on " + to_string(address) +
                                               "; stop it first, or choose another path");
  if (errno == ECONNREFUSED && unlink(address.path.c_str()) == 0) return {};
  return fail(ErrorCode::unavailable, "cannot listen on " + to_string(address) +
                                          ": cannot remove the old socket: " + reason(errno));
}

Status open_to_all(const Address& address) {
  if (address.kind != Address::Kind::unix_socket) return {};
  if (chmod(address.path.c_str(), 0666) == 0) return {};
  return fail(ErrorCode::unavailable,
              "cannot open " + to_string(address) + " to all users: " + reason(errno));
}

Error why_not_listening(const Address& address) {
  const std::string what = "cannot listen on " + to_string(address);
  if (address.kind == Address::Kind::unix_socket) {
    const sockaddr_un name = unix_name(address.path);
    const int error = try_bind(AF_UNIX, reinterpret_cast<const sockaddr*>(&name), sizeof name);
    if (error == 0) unlink(address.path.c_str());
    return {ErrorCode::unavailable, what + ": " + (error ? reason(error) : "unknown reason")};
  }
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int lookup = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (lookup != 0) return {ErrorCode::unavailable, what + ": " + gai_strerror(lookup)};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, freeaddrinfo);
  const int error = try_bind(found->ai_family, found->ai_addr, found->ai_addrlen);
  const ErrorCode code = error == EADDRINUSE ? ErrorCode::already_exists : ErrorCode::unavailable;
  return {code, what + ": " + (error ? reason(error) : "unknown reason")};
}

}  // namespace ares::rpc
