// Tests: admission, limits, problems
#include "rpc/server/admission.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstring>

#include "rpc/server/limits.h"

namespace ares::rpc {
namespace {

using namespace std::chrono_literals;

constexpr UserId kNode{0}, kAlice{1000};

class AdmissionTest : public ::testing::Test {
 protected:
  struct Peer {
    std::shared_ptr<Admission::Connection> connection;
    Socket other_end;

    bool is_cut() const {
      char byte;
      return ::recv(other_end.fd(), &byte, 1, MSG_DONTWAIT) == 0;
    }
  };

  AdmissionTest() {
    limits.unproven = 6;
    limits.unproven_per_address = 3;
    limits.connections_per_user = 2;
    limits.max_message_bytes = 10'000;
    limits.free_bytes = 1000;
    limits.unproven_bytes = 25'000;
    limits.unproven_bytes_per_address = 15'000;
    limits.partial_bytes_per_user = 15'000;
    limits.time_to_prove = 30s;
  }

  void start() {
    admission = std::make_unique<Admission>(limits, std::vector<UserId>{kNode}, problems);
  }

  Peer admit(const std::string& address, int port, std::chrono::seconds at = 0s) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    Peer peer;
    peer.other_end = Socket(ends[1]);
    peer.connection =
        admission->admit({name(address, port), address}, Socket(ends[0]), start_ + at);
    return peer;
  }
  static std::string name(const std::string& address, int port) {
    return "ipv4:" + address + ":" + std::to_string(port);
  }

  // Preface, and a DATA frame of one half message of `bytes`.
  static std::string half_message(std::size_t bytes) {
    std::string out = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const std::size_t frame = bytes + 5;
    for (const int shift : {16, 8, 0}) out += static_cast<char>(frame >> shift);
    out += std::string("\0\0\0\0\0\1", 6) + '\0';
    const std::size_t announced = bytes + 1;
    for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(announced >> shift);
    return out + std::string(bytes, 'x');
  }

  AdmissionLimits limits;
  std::vector<std::string> told;
  Problems problems{[this](const std::string& text) { told.push_back(text); }};
  std::unique_ptr<Admission> admission;
  const Admission::Clock::time_point start_ = Admission::Clock::now();
};

TEST_F(AdmissionTest, TheOldestUnprovenConnectionOfAnAddressGivesWay) {
  start();
  std::vector<Peer> peers;
  for (int i = 0; i < 3; ++i) peers.push_back(admit("192.0.2.1", i));
  const Peer other = admit("192.0.2.2", 9);
  EXPECT_FALSE(peers[0].is_cut());
  const Peer one_more = admit("192.0.2.1", 3);
  EXPECT_TRUE(peers[0].is_cut());
  EXPECT_FALSE(peers[1].is_cut() || one_more.is_cut() || other.is_cut());
  EXPECT_EQ(admission->unproven(), 4u);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("192.0.2.1"), std::string::npos);
}

TEST_F(AdmissionTest, ProvenConnectionsKeepTheirPlace) {
  start();
  const Peer proven = admit("192.0.2.1", 0);
  ASSERT_TRUE(admission->authenticated(name("192.0.2.1", 0), kAlice));
  std::vector<Peer> flood;
  for (int i = 1; i < 50; ++i) flood.push_back(admit("192.0.2.1", i));
  EXPECT_FALSE(proven.is_cut());
  EXPECT_EQ(admission->unproven(), 3u);
}

TEST_F(AdmissionTest, AnAddressThatSendsTooMuchUnprovenIsCut) {
  start();
  std::vector<Peer> peers;
  for (int i = 0; i < 3; ++i) peers.push_back(admit("192.0.2.1", i));
  EXPECT_TRUE(peers[0].connection->received(half_message(9000)));
  EXPECT_FALSE(peers[1].connection->received(half_message(9000)));
  EXPECT_TRUE(peers[1].is_cut());
  EXPECT_FALSE(peers[0].is_cut());
  EXPECT_TRUE(peers[2].connection->received(half_message(900)))
      << "a small request always gets through";
  // It counts until gRPC has released it.
  EXPECT_GT(admission->unproven_bytes(), 15'000u);
  admission->drop(peers[1].connection);
  EXPECT_LT(admission->unproven_bytes(), 9000u);
  admission->drop(peers[0].connection);
  EXPECT_EQ(admission->unproven_bytes(), 0u);
}

TEST_F(AdmissionTest, AllAddressesTogetherAreBounded) {
  start();
  std::vector<Peer> peers;
  int taken = 0;
  for (int i = 0; i < 6; ++i) {
    peers.push_back(admit("192.0.2." + std::to_string(i), 0));
    taken += peers.back().connection->received(half_message(9000));
  }
  EXPECT_EQ(taken, 3);
}

TEST_F(AdmissionTest, MoreThanOneRequestUnprovenIsTooMuch) {
  start();
  const Peer peer = admit("192.0.2.1", 0);
  EXPECT_TRUE(peer.connection->received(half_message(9900)));
  EXPECT_FALSE(peer.connection->received(std::string(2000, 'x')));
}

TEST_F(AdmissionTest, AUsersHalfSentRequestsAreBounded) {
  start();
  const Peer first = admit("192.0.2.1", 0), second = admit("192.0.2.2", 0);
  for (const char* address : {"192.0.2.1", "192.0.2.2"})
    ASSERT_TRUE(admission->authenticated(name(address, 0), kAlice));
  EXPECT_EQ(admission->unproven(), 0u);
  EXPECT_TRUE(first.connection->received(half_message(9000)));
  EXPECT_FALSE(second.connection->received(half_message(9000)));
  EXPECT_TRUE(second.is_cut());
}

TEST_F(AdmissionTest, AUserHasSoManyConnections) {
  start();
  std::vector<Peer> peers;
  for (int i = 0; i < 3; ++i) peers.push_back(admit("192.0.2.1", i));
  EXPECT_TRUE(admission->authenticated(name("192.0.2.1", 0), kAlice));
  EXPECT_TRUE(admission->authenticated(name("192.0.2.1", 0), kAlice)) << "each call says it again";
  EXPECT_TRUE(admission->authenticated(name("192.0.2.1", 1), kAlice));
  const Status third = admission->authenticated(name("192.0.2.1", 2), kAlice);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::unavailable);
  admission->drop(peers[0].connection);
  EXPECT_TRUE(admission->authenticated(name("192.0.2.1", 2), kAlice));
}

TEST_F(AdmissionTest, AnswersThatAUserDoesNotReadAreBounded) {
  limits.unsent_bytes_per_user = 1000;
  start();
  const Peer alice = admit("192.0.2.1", 0), node = admit("192.0.2.2", 0);
  ASSERT_TRUE(admission->authenticated(name("192.0.2.1", 0), kAlice));
  ASSERT_TRUE(admission->authenticated(name("192.0.2.2", 0), kNode));
  auto large = admission->keep_answer(name("192.0.2.1", 0), 5000);
  EXPECT_TRUE(large) << "one of any size";
  EXPECT_FALSE(admission->keep_answer(name("192.0.2.1", 0), 1));
  EXPECT_TRUE(admission->keep_answer(name("192.0.2.2", 0), 5000));
  large.reset();
  const auto small = admission->keep_answer(name("192.0.2.1", 0), 600);
  EXPECT_TRUE(small);
  EXPECT_FALSE(admission->keep_answer(name("192.0.2.1", 0), 600));
  admission->drop(alice.connection);
}

TEST_F(AdmissionTest, NodeDaemonsAreNotBounded) {
  start();
  std::vector<Peer> nodes;
  for (int i = 0; i < 50; ++i) {
    nodes.push_back(admit("192.0.2.1", i));
    ASSERT_TRUE(admission->authenticated(name("192.0.2.1", i), kNode));
    EXPECT_TRUE(nodes.back().connection->received(half_message(9000)));
    EXPECT_TRUE(nodes.back().connection->received(half_message(9000)));
  }
}

TEST_F(AdmissionTest, AConnectionThatDoesNotAuthenticateInTimeIsCut) {
  start();
  const Peer old = admit("192.0.2.1", 0), young = admit("192.0.2.1", 1, 20s);
  const Peer proven = admit("192.0.2.1", 2);
  ASSERT_TRUE(admission->authenticated(name("192.0.2.1", 2), kAlice));
  admission->expire(start_ + 31s);
  EXPECT_TRUE(old.is_cut());
  EXPECT_FALSE(young.is_cut() || proven.is_cut());
}

TEST(ConnectionLimits, NoUserGetsAllDescriptors) {
  for (const std::size_t descriptors : {64ul, 1024ul, 4096ul, 65'536ul, 1'048'576ul}) {
    const ConnectionLimits limits = connection_limits(descriptors);
    // Local users, callers by TCP with two descriptors each, and the reserve.
    EXPECT_LE(limits.local + 2 * limits.unproven + limits.reserve, descriptors) << descriptors;
    EXPECT_LE(limits.local_per_user + 2 * limits.tcp_per_user, descriptors / 4) << descriptors;
    EXPECT_GE(limits.reserve, descriptors >= 1024 ? 128u : 1u);
    EXPECT_FALSE(in_reserve(3, limits));
    EXPECT_TRUE(in_reserve(static_cast<int>(descriptors) - 1, limits));
  }
}

TEST(Problems, EachIsToldOnceInAWhile) {
  std::vector<std::string> told;
  Problems problems([&](const std::string& text) { told.push_back(text); });
  for (int i = 0; i < 5; ++i) problems.report("a", "first " + std::to_string(i));
  problems.report("b", "second");
  EXPECT_EQ(told, (std::vector<std::string>{"first 0", "second"}));
}

}  // namespace
}  // namespace ares::rpc
