// A socket that closes itself, and conversion of Unix addresses to sockaddr.
// A plain value with an owner; one thread at a time. Private to rpc/.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

namespace ares::rpc {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~Socket() { close(); }

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

inline Socket stream_socket(int family, int flags = 0) {
  return Socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

inline sockaddr_un unix_name(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  return name;
}

inline std::string reason(int error) {
  return std::generic_category().message(error);
}

}  // namespace ares::rpc
