#include "os/process/exec_words.h"

#include <gtest/gtest.h>

namespace ares::os {
namespace {

TEST(ExecWords, EndWithANullPointer) {
  std::vector<std::string> texts{"a", "", "b c"};
  const std::vector<char*> words = exec_words(texts);
  ASSERT_EQ(words.size(), 4u);
  EXPECT_STREQ(words[0], "a");
  EXPECT_STREQ(words[1], "");
  EXPECT_STREQ(words[2], "b c");
  EXPECT_EQ(words[3], nullptr);
  std::vector<std::string> none;
  EXPECT_EQ(exec_words(none), std::vector<char*>{nullptr});
}

}  // namespace
}  // namespace ares::os
