#include "pmi/contribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::pmi {
namespace {

using ::testing::HasSubstr;

TEST(Contribution, WhatIsPrintedIsReadAsTheSame) {
  const Contribution contribution{.fence = 12, .values = {{"a", "1"}, {"b", ""}, {"c", "x =y"}}};
  EXPECT_EQ(print(contribution), "fence 12\na=1\nb=\nc=x =y\n");
  EXPECT_EQ(read_contribution(print(contribution)).value(), contribution);
  EXPECT_EQ(read_contribution(print({})).value(), Contribution{});
}

TEST(Contribution, WhatAServerDoesNotPrintIsRefused) {
  for (const char* text :
       {"", "fence 1", "fence\n", "fence x\n", "fence 01\n", "fence -1\n", "a=1\n", "fence 0\na\n",
        "fence 0\n=1\n", "fence 0\na=1", "fence 0\na=1\na=2\n", "fence 0\nb=1\na=2\n",
        "fence 0\n\n", "fence 99999999999999999999\n"}) {
    const auto read = read_contribution(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr("keys of another node"));
  }
  EXPECT_FALSE(read_contribution(std::string(kMostContribution + 1, 'x')));
}

}  // namespace
}  // namespace ares::pmi
