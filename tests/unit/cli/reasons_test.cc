#include "cli/output/reasons.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ares::cli {
namespace {

TEST(Reasons, EachReasonOfAJobHasAMeaningOfItsOwn) {
  ASSERT_EQ(reason_meanings().size(), static_cast<std::size_t>(kLastReason) + 1);
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < reason_meanings().size(); ++i) {
    const ReasonMeaning& row = reason_meanings()[i];
    EXPECT_EQ(static_cast<std::size_t>(row.reason), i) << to_string(row.reason);
    EXPECT_EQ(meaning_of_reason(to_string(row.reason)), row.text);
    EXPECT_FALSE(row.text.ends_with('.')) << row.text;
    EXPECT_TRUE(texts.insert(row.text).second) << row.text;
  }
  EXPECT_EQ(meaning_of_reason("Nonsense"), "");
}

TEST(Reasons, EachStateHasAMeaning) {
  for (std::size_t i = 0; i < state_meanings().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(state_meanings()[i].state), i);
    EXPECT_GT(state_meanings()[i].text.size(), 3u);
  }
  EXPECT_EQ(state_meanings().back().state, JobState::deadline);
}

}  // namespace
}  // namespace ares::cli
