#include "arun/multi_prog.h"

#include <gtest/gtest.h>

namespace ares::arun {
namespace {

std::string refusal(std::string_view text) {
  const auto read = read_multi_prog(text, "prog.conf");
  return read ? "accepted" : read.error().message;
}

TEST(MultiProg, ReadsRanksProgramsAndArguments) {
  const auto read = read_multi_prog(
      "# comment\n\n0      ./master --port 'a b'\n1-3,5  ./worker %t %o # more\n*      echo rest\n",
      "prog.conf");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[0].arguments, (std::vector<std::string>{"./master", "--port", "a b"}));
  EXPECT_EQ(format_interval_set((*read)[1].ranks), "1-3,5");
  EXPECT_EQ((*read)[1].arguments, (std::vector<std::string>{"./worker", "%t", "%o"}));
  EXPECT_TRUE((*read)[2].ranks.empty());
}

TEST(MultiProg, SaysWhichLineIsWrongAndWhy) {
  EXPECT_EQ(refusal("0 a\n1\n"), "prog.conf:2: after the ranks comes a program");
  EXPECT_EQ(refusal("0-2 a\n2 b\n"), "prog.conf:2: \"2\" names a task again");
  EXPECT_EQ(refusal("* a\n0 b\n"), "prog.conf:2: a line with * is the last one");
  EXPECT_EQ(refusal("0 'a\n"), "prog.conf:1: a quote is not closed");
  EXPECT_EQ(refusal("# nothing\n"), "prog.conf names no program");
  for (const char* ranks : {"x", "3-1", "1000000", "-1", "1,,2"})
    EXPECT_TRUE(refusal(std::string(ranks) + " a\n").starts_with("prog.conf:1: ")) << ranks;
}

}  // namespace
}  // namespace ares::arun
