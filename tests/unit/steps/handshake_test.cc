#include "steps/handshake.h"

#include <gtest/gtest.h>

namespace ares::steps {
namespace {

const std::string kSecret(32, 'S');

std::string key(std::uint64_t fence = 50, std::string_view nodes = "n[1-2]") {
  return attempt_key(kSecret, "12.1", Fence(fence), UserId(1000), nodes);
}

std::string without_newline(std::string line) {
  EXPECT_TRUE(line.ends_with('\n'));
  line.pop_back();
  return line;
}

struct Call {
  Dial dial{"12.1", Fence(50), 0, 1, "nonce of host", {}};
  std::string theirs = "nonce of daemon";

  Result<Dial> dialed(const std::string& with) const {
    return read_dial(without_newline(dial_line(dial, theirs, with)));
  }
};

TEST(Handshake, HostAndDaemonOfOneAttemptKnowEachOther) {
  const Call call;
  const Result<std::string> nonce = read_greeting(without_newline(greeting(call.theirs)));
  ASSERT_TRUE(nonce);
  EXPECT_EQ(*nonce, call.theirs);
  const Result<Dial> dial = call.dialed(key());
  ASSERT_TRUE(dial) << dial.error().message;
  EXPECT_TRUE(verify_dial(*dial, call.theirs, key()));
  EXPECT_EQ(dial->to, 1u);
  const std::string answer = without_newline(answer_line(*dial, call.theirs, key()));
  EXPECT_TRUE(read_answer(answer, call.dial, call.theirs, key()));
}

TEST(Handshake, KeyIsOfOneAttemptOneFenceAndItsNodes) {
  EXPECT_NE(key(50), key(51));
  EXPECT_NE(key(50, "n[1-2]"), key(50, "n[1-3]"));
  EXPECT_NE(key(), attempt_key(kSecret, "12.2", Fence(50), UserId(1000), "n[1-2]"));
  EXPECT_NE(key(), attempt_key(kSecret, "12.1", Fence(50), UserId(1001), "n[1-2]"));
  const Call call;
  EXPECT_FALSE(verify_dial(*call.dialed(key(51)), call.theirs, key(50)));
}

TEST(Handshake, ProofHoldsForOneGreetingAndOneTarget) {
  const Call call;
  Dial dial = *call.dialed(key());
  EXPECT_FALSE(verify_dial(dial, "another nonce", key())) << "it was recorded and sent again";
  dial.to = 2;
  EXPECT_FALSE(verify_dial(dial, call.theirs, key())) << "it was sent to another node";
}

TEST(Handshake, DaemonThatDoesNotKnowTheKeyGetsNoFrames) {
  const Call call;
  const Dial dial = *call.dialed(key());
  EXPECT_FALSE(read_answer(without_newline(answer_line(dial, call.theirs, key(51))), call.dial,
                           call.theirs, key()));
  // What the host itself has sent proves nothing.
  EXPECT_FALSE(read_answer("ok " + std::string(64, '0'), call.dial, call.theirs, key()));
}

TEST(Handshake, EmptyKeyProvesNothing) {
  const Call call;
  EXPECT_FALSE(verify_dial(*call.dialed(""), call.theirs, ""));
}

TEST(Handshake, RefusalIsTold) {
  const Call call;
  for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::failed_precondition,
                               ErrorCode::stale, ErrorCode::permission_denied}) {
    const std::string line = refusal_line({code, "no such\nattempt"});
    const Status status = read_answer(without_newline(line), call.dial, call.theirs, key());
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error(), (Error{code, "no such attempt"}));
  }
}

TEST(Handshake, NonsenseIsRefused) {
  for (const char* line : {"", "12.1 50 0 1 00", "12.1 x 0 1 00 00", "12.1 50 0 1 zz 00",
                           "12.1 50 0 1 00 0", "a b c d e f g"})
    EXPECT_FALSE(read_dial(line)) << line;
  EXPECT_FALSE(read_greeting("SSH-2.0-OpenSSH"));
  const Call call;
  EXPECT_FALSE(read_answer("yes", call.dial, call.theirs, key()));
}

}  // namespace
}  // namespace ares::steps
