// Addresses as ares.yaml writes them: "unix:/path/of/socket", "tcp:host:port", "tcp:[::1]:port".
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::rpc {

struct Address {
  enum class Kind : std::uint8_t { unix_socket, tcp };
  Kind kind = Kind::unix_socket;
  std::string path;  // of a unix socket
  std::string host;  // of tcp: a name or a number, without brackets
  std::uint16_t port = 0;
  friend bool operator==(const Address&, const Address&) = default;
};

// invalid_argument with the reason: a relative or too long path, no port, an unknown kind.
Result<Address> parse_address(std::string_view text);

// The socket beside a Unix socket that takes calls past gRPC.
std::string call_socket(const Address& address);

std::string to_string(const Address& address);

}  // namespace ares::rpc
