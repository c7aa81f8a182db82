#include "submit/message/hook_message.h"

#include <gtest/gtest.h>

namespace ares::submit {
namespace {

TEST(HookMessage, SurvivesTheWay) {
  HookCall call;
  call.function = HookCall::Function::job_modify;
  call.file = "/x.lua";
  call.caller = 7;
  call.time_limit_ms = 5;
  call.memory_limit = 1 << 20;
  call.job = {{"a", 1.5}, {"b", std::string("ö\xff")}, {"c", true}, {"d", {}}};
  call.read_only = {"a"};
  call.record = {{"job_id", 3.0}};
  call.partitions = {{{"name", std::string("p")}}};
  call.environment = {{"X", "y\nz"}};
  const std::string line = to_json(call);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto read = hook_call_from_json(line);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->job.at("a"), FieldValue(1.5));
  EXPECT_EQ(read->job.at("b"), FieldValue(std::string("ö\xef\xbf\xbd")));
  EXPECT_EQ(read->environment, call.environment);
  EXPECT_EQ(to_json(*read), line);

  HookAnswer answer;
  answer.kind = HookAnswer::Kind::refused;
  answer.messages = {"no"};
  answer.log = {{"info", "x"}};
  answer.changes = {{"n", 4294967294.0}};
  answer.environment = {{"X", {}}};
  const auto other = hook_answer_from_json(to_json(answer));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->log, answer.log);
  EXPECT_EQ(other->changes, answer.changes);
  EXPECT_EQ(other->environment, answer.environment);
}

TEST(HookMessage, AFieldOfAnotherTypeIsNamedInAShortMessage) {
  const std::string head = R"({"function": "job_submit", "file": "", "caller": 0,
    "time_limit_ms": 0, "memory_limit": 0, "read_only": [], "record": {}, "partitions": [], )";
  const auto field = hook_call_from_json(head + R"("environment": {}, "job": {"a\u001b)" +
                                         std::string(9000, 'x') + R"(": []}})");
  ASSERT_FALSE(field);
  EXPECT_EQ(field.error().message.find('\x1b'), std::string::npos);
  EXPECT_LT(field.error().message.size(), 500u);
  const auto list = hook_call_from_json(head + R"("environment": ["a"], "job": {}})");
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().message, "environment is not an object");
}

TEST(HookMessage, OtherTextsAreRefused) {
  for (const char* text : {"", "{", "[]", "{}", R"({"kind": "x"})", "null"}) {
    EXPECT_FALSE(hook_call_from_json(text)) << text;
    EXPECT_FALSE(hook_answer_from_json(text)) << text;
  }
}

}  // namespace
}  // namespace ares::submit
