// What a peer's socket address is called. Pure functions; any thread. Private to rpc/.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

namespace ares::rpc {

// As gRPC names a peer: "ipv4:192.0.2.1:4711", "ipv6:[2001:db8::1]:4711". Empty for other families.
std::string peer_text(const sockaddr_storage& peer);

// The machine, as far as its address tells: all of an IPv4 address, the first 64 bits of an IPv6 address.
std::string machine_text(const sockaddr_storage& peer);

// What gRPC says, without escapes (%5B for a bracket) and without the zone of a link-local address, as peer_text() writes it.
std::string plain_peer(std::string_view peer);

// Its machine, as machine_text() writes it.
std::string machine_of(std::string_view plain_peer);

}  // namespace ares::rpc
