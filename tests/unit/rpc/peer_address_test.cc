#include "rpc/wire/peer_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace ares::rpc {
namespace {

sockaddr_storage ipv4(const char* text, std::uint16_t port) {
  sockaddr_storage peer{};
  auto& name = reinterpret_cast<sockaddr_in&>(peer);
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, text, &name.sin_addr), 1);
  return peer;
}

sockaddr_storage ipv6(const char* text, std::uint16_t port) {
  sockaddr_storage peer{};
  auto& name = reinterpret_cast<sockaddr_in6&>(peer);
  name.sin6_family = AF_INET6;
  name.sin6_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET6, text, &name.sin6_addr), 1);
  return peer;
}

TEST(PeerAddress, IsWrittenAsGrpcWritesIt) {
  EXPECT_EQ(peer_text(ipv4("192.0.2.1", 4711)), "ipv4:192.0.2.1:4711");
  EXPECT_EQ(peer_text(ipv6("2001:db8::1", 80)), "ipv6:[2001:db8::1]:80");
  EXPECT_EQ(peer_text(ipv6("::ffff:192.0.2.1", 80)), "ipv4:192.0.2.1:80");
  EXPECT_EQ(plain_peer("ipv6:%5B2001:db8::1%5D:80"), "ipv6:[2001:db8::1]:80");
  EXPECT_EQ(plain_peer("ipv6:%5Bfe80::1%252%5D:80"), "ipv6:[fe80::1]:80");
  EXPECT_EQ(plain_peer("unix:"), "unix:");
}

TEST(PeerAddress, AMachineIsAnIpv4AddressOrAnIpv6Network) {
  EXPECT_EQ(machine_text(ipv4("192.0.2.1", 4711)), "192.0.2.1");
  EXPECT_EQ(machine_text(ipv6("2001:db8::1", 1)), machine_text(ipv6("2001:db8::2:3", 2)));
  EXPECT_NE(machine_text(ipv6("2001:db8::1", 1)), machine_text(ipv6("2001:db8:0:1::1", 1)));
}

TEST(PeerAddress, TheMachineIsTheSameByEitherForm) {
  for (const sockaddr_storage& peer :
       {ipv4("192.0.2.1", 4711), ipv6("2001:db8::7:8:9:a", 80), ipv6("::ffff:192.0.2.1", 80)})
    EXPECT_EQ(machine_of(peer_text(peer)), machine_text(peer));
  EXPECT_EQ(machine_of(plain_peer("ipv6:%5Bfe80::1%252%5D:80")), "fe80::/64");
}

}  // namespace
}  // namespace ares::rpc
