#include "os/sockets/tcp.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace ares::os {
namespace {

TEST(Tcp, ReadsNumericAddressesOfBothKinds) {
  const auto four = parse_tcp_address("192.0.2.1:4711");
  ASSERT_TRUE(four);
  EXPECT_EQ(four->storage.ss_family, AF_INET);
  const auto six = parse_tcp_address("[2001:db8::1]:4711");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->storage.ss_family, AF_INET6);
  for (const char* text : {"", "192.0.2.1", "192.0.2.1:0", "host:4711", "[2001:db8::1]", ":1"})
    EXPECT_FALSE(parse_tcp_address(text)) << text;
}

TEST(Tcp, ConnectsToWhatListensAndSaysWhyNot) {
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string there = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const auto refused = connect_tcp(there, std::chrono::seconds(5));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("refused"), std::string::npos);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_TRUE(connect_tcp(there, std::chrono::seconds(5)));
}

}  // namespace
}  // namespace ares::os
