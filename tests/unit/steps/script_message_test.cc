#include "steps/script_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::steps {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view text) {
  const Status good = check_message(text);
  return good ? "" : good.error().message;
}

TEST(ScriptMessage, OneLineOfTextIsPossible) {
  EXPECT_EQ(refusal("The disk of n1 is full:\t99 %. Grüße"), "");
  EXPECT_EQ(refusal(std::string(kLongestMessage, 'x')), "");
}

TEST(ScriptMessage, WhatATerminalActsOnIsRefused) {
  for (const char* text : {"two\nlines", "\x1b[2J", "a\rb", "\x7f", "\xc2\x9b", "\xe2\x80\xae"})
    EXPECT_THAT(refusal(text), HasSubstr("control character")) << text;
  EXPECT_THAT(refusal("\xff"), HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal(std::string(kLongestMessage + 1, 'x')),
              HasSubstr("has 1025 bytes; at most 1024"));
}

TEST(ScriptMessage, LineNamesItsSender) {
  EXPECT_EQ(message_line("alice", "stop, please"), "ares: message from alice: stop, please\n");
}

}  // namespace
}  // namespace ares::steps
