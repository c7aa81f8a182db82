#include "os/sockets/tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#include <cerrno>
#include <charconv>

#include "base/printable.h"

namespace ares::os {

Result<TcpAddress> parse_tcp_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  std::uint16_t port = 0;
  if (colon != std::string::npos)
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  TcpAddress address;
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

Result<Fd> begin_tcp(const std::string& text) {
  const Result<TcpAddress> address = parse_tcp_address(text);
  if (!address) return fail(address.error());
  Fd made(::socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return fail(errno_error("cannot make a socket"));
  if (::connect(made.get(), reinterpret_cast<const sockaddr*>(&address->storage), address->size) !=
          0 &&
      errno != EINPROGRESS)
    return fail(errno_error("cannot connect to " + text));
  return made;
}

Status take_connect_error(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return {};
  return fail(errno_error("cannot connect to the node daemon there", error));
}

Result<Fd> connect_tcp(const std::string& address, Duration patience) {
  Result<Fd> made = begin_tcp(address);
  if (!made) return made;
  pollfd ready{made->get(), POLLOUT, 0};
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  if (::poll(&ready, 1, static_cast<int>(ms)) <= 0)
    return fail(ErrorCode::unavailable, "cannot connect to " + address + ": no answer");
  if (Status connected = take_connect_error(made->get()); !connected)
    return fail(connected.error());
  return made;
}

}  // namespace ares::os
