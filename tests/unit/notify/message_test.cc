#include "notify/message/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::notify {
namespace {

using testing::HasSubstr;

Mail mail() {
  return {"smtp://mail:25", Tls::if_offered, "u",   "/p", "/ca",          "h",
          "ares@x",         {"a@x", "b@x"},  "1@x", 7,    "Über \"x\"\n", "body\n"};
}

TEST(NotifyMessage, SurvivesTheWay) {
  const auto read = message_from_json(to_json(mail()));
  ASSERT_TRUE(read) << read.error().message;
  const auto& got = std::get<Mail>(*read);
  EXPECT_EQ(got.tls, Tls::if_offered);
  EXPECT_EQ(got.to, mail().to);
  EXPECT_EQ(got.subject, mail().subject);
  EXPECT_EQ(got.date, 7);
  EXPECT_EQ(to_json(*read), to_json(mail()));

  const Webhook hook{"https://h/x", "d-1", "END", "{\"a\":1}", "/t", "/s", "/c", "http://p:1"};
  const auto other = message_from_json(to_json(hook));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(std::get<Webhook>(*other).body, hook.body);
  EXPECT_EQ(to_json(*other), to_json(hook));
}

TEST(NotifyMessage, BytesThatAreNotUtf8AreReplaced) {
  Mail bad = mail();
  bad.subject = "a\xff";
  const auto read = message_from_json(to_json(bad));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::get<Mail>(*read).subject, "a\xef\xbf\xbd");
}

TEST(NotifyMessage, WhatIsNoMessageIsRefusedByName) {
  const auto problem = [](std::string_view text) {
    const auto read = message_from_json(text);
    return read ? std::string("read") : read.error().message;
  };
  EXPECT_THAT(problem("{"), HasSubstr("not a JSON object"));
  EXPECT_THAT(problem("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(problem("{}"), HasSubstr("kind is missing"));
  EXPECT_THAT(problem(R"({"kind": "mail", "server": 1})"), HasSubstr("server is missing"));
  Mail empty = mail();
  empty.to.clear();
  EXPECT_THAT(problem(to_json(empty)), HasSubstr("to is missing"));
}

TEST(NotifyOutcome, SurvivesTheWay) {
  const Outcome later{Outcome::Kind::later, true, Seconds(30), "no room"};
  const auto read = outcome_from_json(to_json(later));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kind, Outcome::Kind::later);
  EXPECT_TRUE(read->of_server);
  EXPECT_EQ(read->wait, Seconds(30));
  EXPECT_EQ(read->text, "no room");
  EXPECT_FALSE(outcome_from_json(""));
  EXPECT_FALSE(outcome_from_json(R"({"outcome": "perhaps"})"));
}

}  // namespace
}  // namespace ares::notify
