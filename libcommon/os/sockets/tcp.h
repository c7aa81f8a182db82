// TCP connections to numeric addresses. Stateless; any thread.
#pragma once

#include <sys/socket.h>

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"

namespace ares::os {

struct TcpAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// "192.0.2.1:4711" or "[2001:db8::1]:4711". invalid_argument: it is something else.
Result<TcpAddress> parse_tcp_address(const std::string& text);

// Begins to connect a socket that does not block; when it can be written to, take_connect_error() tells
// how that went.
Result<Fd> begin_tcp(const std::string& address);
Status take_connect_error(int socket);

// Waits until it is connected. unavailable: it is not within the time.
Result<Fd> connect_tcp(const std::string& address, Duration patience);

}  // namespace ares::os
