// Addresses as in ares.yaml: "unix:/path/of/socket", "tcp:host:port", "tcp:[::1]:port".
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
  std::string path;  // of a Unix socket
  std::string host;  // of tcp: host name or IP address, without brackets
  std::uint16_t port = 0;
  friend bool operator==(const Address&, const Address&) = default;
};

// invalid_argument with the reason: a relative or too long path, no port, an unknown scheme.
Result<Address> parse_address(std::string_view text);

// Path of the socket next to a Unix socket that accepts calls without gRPC.
std::string call_socket(const Address& address);

std::string to_string(const Address& address);

}  // namespace ares::rpc
