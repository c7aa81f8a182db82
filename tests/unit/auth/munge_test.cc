#include "auth/munge.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "unit/auth/munged.h"

namespace ares::auth {
namespace {

using testing::Munged;

class MungeTest : public ::testing::Test {
 protected:
  Munged munged;
};

TEST_F(MungeTest, CredentialNamesItsUser) {
  auto credential = munge_encode("hello", munged.socket());
  ASSERT_TRUE(credential) << credential.error().message;
  auto decoded = munge_decode(*credential, munged.socket());
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->uid, UserId(getuid()));
  EXPECT_EQ(decoded->gid, GroupId(getgid()));
  EXPECT_EQ(decoded->payload, "hello");
  EXPECT_NE(decoded->host.find('.'), std::string::npos) << decoded->host;
}

TEST_F(MungeTest, PayloadMayHaveAnyBytes) {
  for (const std::string& payload : {std::string(), std::string("\0\xff\n\0", 4)}) {
    auto decoded = munge_decode(munge_encode(payload, munged.socket()).value(), munged.socket());
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->payload, payload);
  }
}

TEST_F(MungeTest, RepeatedCredentialIsRefused) {
  const std::string credential = munge_encode("hello", munged.socket()).value();
  ASSERT_TRUE(munge_decode(credential, munged.socket()));
  auto again = munge_decode(credential, munged.socket());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(again.error().message, "credential refused: it was used before");
}

TEST_F(MungeTest, CredentialForAnotherUserIsRefused) {
  const std::string credential =
      munge_encode("secret", munged.socket(), UserId(getuid() + 1)).value();
  auto decoded = munge_decode(credential, munged.socket());
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::unauthenticated);
  EXPECT_NE(decoded.error().message.find("another user"), std::string::npos);
}

TEST_F(MungeTest, CredentialForThisUserIsAccepted) {
  const std::string credential = munge_encode("secret", munged.socket(), UserId(getuid())).value();
  EXPECT_TRUE(munge_decode(credential, munged.socket()));
}

TEST_F(MungeTest, CredentialOfAnotherKeyIsRefused) {
  Munged other;
  auto decoded = munge_decode(munge_encode("hello", other.socket()).value(), munged.socket());
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::unauthenticated);
  EXPECT_NE(decoded.error().message.find("munge.key"), std::string::npos);
}

TEST_F(MungeTest, DamagedCredentialsAreRefused) {
  const std::string good = munge_encode("hello", munged.socket()).value();
  std::mt19937 random(1);
  std::vector<std::string> bad = {"", "MUNGE:", "MUNGE:AwQFAAA=:", std::string(2000, 'x')};
  for (int i = 0; i < 200; ++i) {
    std::string damaged = good;
    // Between the prefix and the final colon.
    damaged[10 + random() % (damaged.size() - 20)] ^= static_cast<char>(1 + random() % 127);
    bad.push_back(damaged);
    bad.push_back(good.substr(0, random() % good.size()));
  }
  for (const std::string& credential : bad) {
    auto decoded = munge_decode(credential, munged.socket());
    ASSERT_FALSE(decoded) << credential;
    EXPECT_EQ(decoded.error().code, ErrorCode::unauthenticated) << decoded.error().message;
  }
}

TEST_F(MungeTest, MissingMungedIsReportedWithItsSocket) {
  const std::string credential = munge_encode("hello", munged.socket()).value();
  const std::string nowhere = munged.socket() + ".nowhere";
  auto encoded = munge_encode("hello", nowhere);
  ASSERT_FALSE(encoded);
  EXPECT_EQ(encoded.error().code, ErrorCode::unavailable);
  EXPECT_NE(encoded.error().message.find(nowhere), std::string::npos) << encoded.error().message;
  auto decoded = munge_decode(credential, nowhere);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::unavailable);
}

// Regression: the signal of a broken pipe ended the command.
TEST(Munge, ThatClosesTheConnectionIsReported) {
  const testing::TemporaryDirectory directory;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string path = directory.path() + "/munged";
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  std::thread closing([listener] {
    for (int client; (client = ::accept(listener, nullptr, nullptr)) >= 0;) ::close(client);
  });
  // Does not fit into the socket, so writing goes on after the connection was closed.
  const auto encoded = munge_encode(std::string(900'000, 'x'), path);
  ::shutdown(listener, SHUT_RDWR);
  closing.join();
  ::close(listener);
  ASSERT_FALSE(encoded);
  EXPECT_EQ(encoded.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace ares::auth
