#include "rpc/server/listen.h"

#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

namespace ares::rpc {
namespace {

constexpr int kBacklog = 4096;

std::string name_of(const std::string& path) {
  return "cannot listen on unix:" + path;
}

Status clear_stale_socket(const std::string& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) return {};
  if (!S_ISSOCK(file.st_mode))
    return fail(ErrorCode::failed_precondition,
                name_of(path) + ": the file is no socket; remove it");
  const Socket socket = stream_socket(AF_UNIX, SOCK_NONBLOCK);
  const sockaddr_un name = unix_name(path);
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 ||
      errno == EAGAIN)
    return fail(ErrorCode::already_exists, "another process listens on unix:" + path +
                                               "; stop it first, or choose another path");
  if (errno == ECONNREFUSED && ::unlink(path.c_str()) == 0) return {};
  return fail(ErrorCode::unavailable,
              name_of(path) + ": cannot remove the old socket: " + reason(errno));
}

bool is_wildcard(const Address& address) {
  return address.host == "0.0.0.0" || address.host == "::";
}

// Errno, or 0.
int bind_tcp(Socket& socket, const sockaddr* name, socklen_t size, bool both_families) {
  socket = stream_socket(name->sa_family, SOCK_NONBLOCK);
  if (!socket) return errno;
  const int on = 1, off = 0;  // a connection just closed would look like a listener
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (name->sa_family == AF_INET6)
    ::setsockopt(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, both_families ? &off : &on, sizeof on);
  if (::bind(socket.fd(), name, size) != 0 || ::listen(socket.fd(), kBacklog) != 0) return errno;
  return 0;
}

std::uint16_t port_of(const Socket& socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&name), &size);
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(name).sin_port);
}

Error cannot_listen(const Address& address, int error) {
  const ErrorCode code = error == EADDRINUSE ? ErrorCode::already_exists : ErrorCode::unavailable;
  return {code, "cannot listen on " + to_string(address) + ": " + reason(error)};
}

// None: this machine has no IPv6.
Result<std::optional<Socket>> listen_on_both(const Address& address) {
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(address.port);
  Socket socket;
  const int error = bind_tcp(socket, reinterpret_cast<const sockaddr*>(&any), sizeof any, true);
  if (error == EAFNOSUPPORT || error == EADDRNOTAVAIL) return std::nullopt;
  if (error != 0) return fail(cannot_listen(address, error));
  return socket;
}

}  // namespace

Result<UnixListener> UnixListener::open(std::string path, mode_t mode) {
  UnixListener listener(std::move(path), mode);
  if (auto opened = listener.reopen(); !opened) return fail(std::move(opened.error()));
  return listener;
}

Status UnixListener::reopen() {
  if (auto clear = clear_stale_socket(path_); !clear) return clear;
  Socket socket = stream_socket(AF_UNIX, SOCK_NONBLOCK);
  const sockaddr_un name = unix_name(path_);
  // The file is never open to more users than it is to be, not even for a moment: bind() takes over the socket's mode.
  if (!socket || ::fchmod(socket.fd(), mode_) != 0 ||
      ::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      ::chmod(path_.c_str(), mode_) != 0 || ::listen(socket.fd(), kBacklog) != 0)
    return fail(ErrorCode::unavailable, name_of(path_) + ": " + reason(errno));
  struct stat file {};
  if (::lstat(path_.c_str(), &file) != 0)
    return fail(ErrorCode::unavailable, name_of(path_) + ": " + reason(errno));
  device_ = file.st_dev;
  inode_ = file.st_ino;
  socket_ = std::move(socket);
  return {};
}

bool UnixListener::is_reachable() const {
  struct stat file {};
  return ::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_;
}

void UnixListener::remove_file() {
  if (is_reachable()) ::unlink(path_.c_str());
}

Result<std::vector<Socket>> listen_tcp(Address& address) {
  std::vector<Socket> sockets;
  if (is_wildcard(address)) {
    auto both = listen_on_both(address);
    if (!both) return fail(std::move(both.error()));
    if (*both) {
      address.port = port_of(**both);
      sockets.push_back(std::move(**both));
      return sockets;
    }
  }
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int lookup =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (lookup != 0)
    return fail(ErrorCode::unavailable,
                "cannot listen on " + to_string(address) + ": " + ::gai_strerror(lookup));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, freeaddrinfo);
  for (const addrinfo* at = found; at; at = at->ai_next) {
    sockaddr_storage name{};
    std::memcpy(&name, at->ai_addr, at->ai_addrlen);
    // All of them get the port that the first one was given.
    (at->ai_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                               : reinterpret_cast<sockaddr_in&>(name).sin_port) =
        htons(address.port);
    Socket socket;
    if (const int error =
            bind_tcp(socket, reinterpret_cast<const sockaddr*>(&name), at->ai_addrlen, false);
        error != 0)
      return fail(cannot_listen(address, error));
    address.port = port_of(socket);
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

}  // namespace ares::rpc
