#include "aresctld/script_messages.h"

#include <gtest/gtest.h>

#include <vector>

namespace ares::aresctld {
namespace {

class WaitingMessages : public testing::Test {
 protected:
  std::uint64_t add(const char* node) {
    return messages.add(
        node,
        [this](const Status& told) { answers.push_back(told ? "written" : told.error().message); },
        start);
  }

  const ScriptMessages::Clock::time_point start{};
  ScriptMessages messages;
  std::vector<std::string> answers;
};

TEST_F(WaitingMessages, OnlyItsNodeAnswersAndOnce) {
  const std::uint64_t id = add("n1");
  messages.answered("n2", id, {});
  messages.answered("n1", id + 1, {});
  EXPECT_TRUE(answers.empty());
  messages.answered("n1", id, fail(ErrorCode::failed_precondition, "no file"));
  messages.answered("n1", id, {});
  messages.end_all();
  EXPECT_EQ(answers, std::vector<std::string>{"no file"});
}

TEST_F(WaitingMessages, EndWhenTheNodeIsSilentOrLost) {
  (void)add("n1");
  (void)add("n2");
  messages.expire(start + ScriptMessages::kLongestAnswer - std::chrono::seconds(1));
  EXPECT_TRUE(answers.empty());
  messages.lost("n2");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_NE(answers[0].find("has lost the connection"), std::string::npos);
  messages.expire(start + ScriptMessages::kLongestAnswer);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_NE(answers[1].find("does not answer"), std::string::npos);
}

TEST_F(WaitingMessages, EndWithTheController) {
  (void)add("n1");
  messages.end_all();
  EXPECT_EQ(answers, std::vector<std::string>{"the controller stops"});
}

}  // namespace
}  // namespace ares::aresctld
