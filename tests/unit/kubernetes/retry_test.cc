// Tests: kubernetes/api/reply
#include "exec/kubernetes/api/retry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::kubernetes {
namespace {

using Next = Verdict::Next;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string status_object(int code, const std::string& reason, const std::string& message) {
  return R"({"kind":"Status","status":"Failure","code":)" + std::to_string(code) +
         R"(,"reason":")" + reason + R"(","message":")" + message + "\"}";
}

TEST(Retry, EachStatusHasItsVerdict) {
  struct Case {
    int status;
    const char* reason;
    const char* message;
    Next next;
    Failure failure;
  };
  const std::vector<Case> cases{
      {200, "", "", Next::done, Failure::none},
      {201, "", "", Next::done, Failure::none},
      {301, "", "", Next::fail, Failure::unusable},
      {400, "BadRequest", "unknown field", Next::fail, Failure::invalid},
      {401, "Unauthorized", "Unauthorized", Next::reload, Failure::unauthenticated},
      {403, "Forbidden", "pods is forbidden: User x cannot list", Next::fail, Failure::forbidden},
      {403, "Forbidden", "pods x is forbidden: exceeded quota: q", Next::fail, Failure::quota},
      {403, "Forbidden", "cannot create in namespace a because it is being terminated", Next::fail,
       Failure::terminating},
      {404, "NotFound", "pods x not found", Next::fail, Failure::not_found},
      {408, "", "", Next::again, Failure::unavailable},
      {409, "AlreadyExists", "pods x already exists", Next::fail, Failure::already_exists},
      {409, "Conflict", "the object has been modified", Next::fail, Failure::conflict},
      {410, "Expired", "too old resource version", Next::fail, Failure::gone},
      {413, "", "", Next::fail, Failure::invalid},
      {422, "Invalid", "Pod x is invalid", Next::fail, Failure::invalid},
      {429, "TooManyRequests", "", Next::again, Failure::unavailable},
      {500, "InternalError", "etcdserver: leader changed", Next::again, Failure::unavailable},
      {501, "", "", Next::fail, Failure::unavailable},
      {503, "ServiceUnavailable", "", Next::again, Failure::unavailable},
      {504, "Timeout", "", Next::again, Failure::unavailable},
  };
  Random random(1);
  for (const Case& c : cases) {
    const Reply reply = read_reply(c.status, {}, status_object(c.status, c.reason, c.message));
    const Verdict verdict = judge(reply, {}, {}, random);
    EXPECT_EQ(verdict.next, c.next) << c.status << " " << c.reason;
    EXPECT_EQ(verdict.failure, c.failure)
        << c.status << " " << c.message << ": " << to_string(verdict.failure);
  }
}

TEST(Retry, CredentialsAreReloadedOnce) {
  Random random(1);
  const Reply reply = read_reply(401, {}, "");
  EXPECT_EQ(judge(reply, {.tries = 1}, {}, random).next, Next::reload);
  EXPECT_EQ(judge(reply, {.tries = 2, .has_reloaded = true}, {}, random).next, Next::fail);
}

TEST(Retry, ServerDelaysAreKept) {
  Random random(1);
  const Reply named = read_reply(429, {{"retry-after", "7"}}, "");
  EXPECT_EQ(judge(named, {}, {}, random).delay, seconds(7));
  const Reply an_hour = read_reply(429, {{"retry-after", "3600"}}, "");
  EXPECT_EQ(judge(an_hour, {}, {}, random).delay, seconds(30)) << "at most";
  const Reply in_body = read_reply(
      500, {}, R"({"kind":"Status","reason":"ServerTimeout","details":{"retryAfterSeconds":3}})");
  EXPECT_EQ(judge(in_body, {}, {}, random).delay, seconds(3));
  for (const char* text : {"-1", "soon", "1.5", "", "99999999999999999999"})
    EXPECT_FALSE(read_reply(429, {{"retry-after", text}}, "").retry_after) << text;
  EXPECT_EQ(read_reply(429, {{"retry-after", "86400000"}}, "").retry_after, seconds(3600));
}

TEST(Retry, TriesEnd) {
  Random random(1);
  const Reply reply{.status = 0, .message = "connection refused"};
  EXPECT_EQ(judge(reply, {.tries = 4}, {}, random).next, Next::again);
  const Verdict last = judge(reply, {.tries = 5}, {}, random);
  EXPECT_EQ(last.next, Next::fail);
  EXPECT_EQ(last.failure, Failure::unavailable);
  const Reply wrong_certificate{
      .status = 0, .message = "certificate has expired", .is_final = true};
  EXPECT_EQ(judge(wrong_certificate, {}, {}, random).next, Next::fail);
}

TEST(Retry, DelaysDoubleUpToAMostWithJitter) {
  Random random(7);
  const BackOff back_off{milliseconds(100), seconds(2)};
  for (int round = 0; round < 100; ++round) {
    EXPECT_THAT(delay_after(1, back_off, random),
                testing::AllOf(testing::Ge(milliseconds(50)), testing::Le(milliseconds(100))));
    EXPECT_THAT(delay_after(3, back_off, random),
                testing::AllOf(testing::Ge(milliseconds(200)), testing::Le(milliseconds(400))));
    EXPECT_THAT(delay_after(4000000000u, back_off, random),
                testing::AllOf(testing::Ge(seconds(1)), testing::Le(seconds(2))));
  }
  EXPECT_NE(delay_after(3, back_off, random), delay_after(3, back_off, random));
}

TEST(Reply, MessagesOfServersAreFitToShow) {
  const Reply reply = read_reply(
      422, {}, status_object(422, "Invalid", "bad \\u001b[31m" + std::string(5000, 'x')));
  EXPECT_LE(reply.message.size(), 500u);
  EXPECT_EQ(reply.message.find('\x1b'), std::string::npos);
  EXPECT_EQ(read_reply(502, {}, "<html>Bad Gateway</html>").message, "status 502");
}

}  // namespace
}  // namespace ares::kubernetes
