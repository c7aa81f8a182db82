#include "base/last_line.h"

#include <gtest/gtest.h>

namespace ares {
namespace {

TEST(LastLine, IsTheLastThatSaysSomething) {
  EXPECT_EQ(last_line("one\ntwo\r\n \n\n"), "two");
  EXPECT_EQ(last_line("one"), "one");
  EXPECT_EQ(last_line("\n \n"), "");
  EXPECT_EQ(last_line(""), "");
}

TEST(LastLine, IsShortAndFitForATerminal) {
  EXPECT_EQ(last_line("a\x1b[31mb\n"), "a?[31mb");
  EXPECT_EQ(last_line("x\n" + std::string(500, 'y'), 10), "yyyyyyy...");
}

}  // namespace
}  // namespace ares
