#include "rpc/wire/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace ares::rpc {
namespace {

// An IPv4 address inside of an IPv6 one, as a socket for both families sees it, is an IPv4 address.
sockaddr_storage unmapped(const sockaddr_storage& peer) {
  if (peer.ss_family != AF_INET6) return peer;
  const auto& from = reinterpret_cast<const sockaddr_in6&>(peer);
  if (!IN6_IS_ADDR_V4MAPPED(&from.sin6_addr)) return peer;
  sockaddr_storage result{};
  auto& to = reinterpret_cast<sockaddr_in&>(result);
  to.sin_family = AF_INET;
  to.sin_port = from.sin6_port;
  std::memcpy(&to.sin_addr, from.sin6_addr.s6_addr + 12, 4);
  return result;
}

std::string number_text(int family, const void* address) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(family, address, text, sizeof text);
  return text;
}

std::string network_text(in6_addr address) {
  std::fill(address.s6_addr + 8, address.s6_addr + 16, std::uint8_t{0});
  return number_text(AF_INET6, &address) + "/64";
}

}  // namespace

std::string peer_text(const sockaddr_storage& peer) {
  const sockaddr_storage plain = unmapped(peer);
  if (plain.ss_family == AF_INET) {
    const auto& name = reinterpret_cast<const sockaddr_in&>(plain);
    return "ipv4:" + number_text(AF_INET, &name.sin_addr) + ":" +
           std::to_string(ntohs(name.sin_port));
  }
  if (plain.ss_family != AF_INET6) return {};
  const auto& name = reinterpret_cast<const sockaddr_in6&>(plain);
  return "ipv6:[" + number_text(AF_INET6, &name.sin6_addr) +
         "]:" + std::to_string(ntohs(name.sin6_port));
}

std::string machine_text(const sockaddr_storage& peer) {
  const sockaddr_storage plain = unmapped(peer);
  if (plain.ss_family == AF_INET)
    return number_text(AF_INET, &reinterpret_cast<const sockaddr_in&>(plain).sin_addr);
  if (plain.ss_family != AF_INET6) return {};
  return network_text(reinterpret_cast<const sockaddr_in6&>(plain).sin6_addr);
}

std::string plain_peer(std::string_view peer) {
  std::string text;
  for (std::size_t at = 0; at < peer.size(); ++at) {
    unsigned byte = 0;
    if (peer[at] == '%' && at + 2 < peer.size() &&
        std::from_chars(&peer[at + 1], &peer[at + 3], byte, 16).ptr == &peer[at + 3]) {
      text += static_cast<char>(byte);
      at += 2;
    } else {
      text += peer[at];
    }
  }
  const std::size_t zone = text.find('%');
  if (zone != std::string::npos) text.erase(zone, text.find(']', zone) - zone);
  return text;
}

std::string machine_of(std::string_view plain_peer) {
  constexpr std::string_view kIpv4 = "ipv4:", kIpv6 = "ipv6:[";
  const std::string_view host = plain_peer.substr(0, plain_peer.rfind(':'));
  if (host.starts_with(kIpv4)) return std::string(host.substr(kIpv4.size()));
  in6_addr address{};
  if (host.starts_with(kIpv6) && host.ends_with(']') &&
      ::inet_pton(AF_INET6,
                  std::string(host.substr(kIpv6.size(), host.size() - kIpv6.size() - 1)).c_str(),
                  &address) == 1)
    return network_text(address);
  return std::string(host);
}

}  // namespace ares::rpc
