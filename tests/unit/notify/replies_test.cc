#include "notify/send/replies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::notify {
namespace {

using Kind = Outcome::Kind;

TEST(HttpReplies, EachStatusHasItsMeaning) {
  const auto kind = [](long status) { return http_outcome(status, "", "", 0).kind; };
  for (const long status : {200, 201, 202, 204}) EXPECT_EQ(kind(status), Kind::delivered);
  for (const long status : {400, 410, 413, 422, 501}) EXPECT_EQ(kind(status), Kind::refused);
  for (const long status : {301, 307, 401, 403, 404, 408, 429, 500, 502, 503})
    EXPECT_EQ(kind(status), Kind::later) << status;
  EXPECT_TRUE(http_outcome(503, "", "", 0).of_server);
  EXPECT_EQ(http_outcome(400, "", "no such\nfield", 0).text, "the server answered 400: no such");
  EXPECT_THAT(http_outcome(302, "", "", 0).text, testing::HasSubstr("redirections"));
}

TEST(HttpReplies, RetryAfter) {
  EXPECT_EQ(retry_after_of("120", 0), Seconds(120));
  EXPECT_EQ(retry_after_of("99999999999999999999", 0), Seconds(86400));
  EXPECT_EQ(retry_after_of("Sun, 06 Nov 1994 08:49:37 GMT", 784111777 - 90), Seconds(90));
  EXPECT_EQ(retry_after_of("Sun, 06 Nov 1994 08:49:37 GMT", 784111777 + 90), Seconds(0));
  for (const char* text : {"", "soon", "-5", "Sun, 31 Feb 1994 08:49:37 GMT", "1 2"})
    EXPECT_EQ(retry_after_of(text, 0), Seconds(0)) << text;
  EXPECT_EQ(http_outcome(429, "7", "", 0).wait, Seconds(7));
}

TEST(HttpReplies, WhatAMessageMayHaveCausedPausesNoOther) {
  for (const long status : {403, 404, 500}) EXPECT_FALSE(http_outcome(status, "", "", 0).of_server);
  for (const long status : {302, 401, 429, 503})
    EXPECT_TRUE(http_outcome(status, "", "", 0).of_server);
}

TEST(SmtpReplies, EachCodeHasItsMeaning) {
  EXPECT_EQ(smtp_outcome(550, true, "550 no such user").kind, Kind::refused);
  EXPECT_EQ(smtp_outcome(552, true, "").kind, Kind::refused);
  EXPECT_EQ(smtp_outcome(450, true, "").kind, Kind::later);
  EXPECT_FALSE(smtp_outcome(450, true, "").of_server);
  for (const long code : {0, 421, 530, 535}) {
    EXPECT_EQ(smtp_outcome(code, true, "").kind, Kind::later) << code;
    EXPECT_TRUE(smtp_outcome(code, true, "").of_server) << code;
  }
  // A greeting, EHLO, STARTTLS or AUTH that is refused says nothing of the message.
  for (const long code : {450, 454, 504, 554}) {
    EXPECT_EQ(smtp_outcome(code, false, "").kind, Kind::later) << code;
    EXPECT_TRUE(smtp_outcome(code, false, "").of_server) << code;
  }
  EXPECT_EQ(smtp_outcome(0, false, "Connection refused").text, "Connection refused");
  EXPECT_EQ(smtp_outcome(550, true, "550 no").text, "the server answered 550 no");
}

}  // namespace
}  // namespace ares::notify
