#include "cli/output/index_list.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ares::cli {
namespace {

TEST(IndexLists, AreCutBetweenRanges) {
  EXPECT_EQ(shortened_indices("1,3,5-9", 7), "1,3,5-9");
  EXPECT_EQ(shortened_indices("1,3,5-9,11", 9), "1,3,...");
  EXPECT_EQ(shortened_indices("1,3,5-9,11", 7), "1,3,...");
  EXPECT_EQ(shortened_indices("1,3,5-9,11", 6), "1,...");
  EXPECT_EQ(shortened_indices("100-200,300", 6), "...");
  EXPECT_EQ(shortened_indices("1,3,5-9,11", 1), "...");
  EXPECT_EQ(shortened_indices("1,3,5-9,11", 0), "1,3,5-9,11");
}

TEST(IndexLists, OfAnIdKeepItsNumberAndThrottle) {
  EXPECT_EQ(shortened_id("12_[1,3,5-9,11%2]", 15), "12_[1,3,...%2]");
  EXPECT_EQ(shortened_id("12_[1,3,5-9,11%2]", 17), "12_[1,3,5-9,11%2]");
  EXPECT_EQ(shortened_id("12_[1,3,5-9,11]", 2), "12_[...]");
  EXPECT_EQ(shortened_id("123456_78", 2), "123456_78");
}

class LengthOfLists : public testing::Test {
 protected:
  ~LengthOfLists() override {
    unsetenv("ARES_BITSTR_LEN");
    unsetenv("SLURM_BITSTR_LEN");
  }
};

TEST_F(LengthOfLists, IsSetByVariables) {
  EXPECT_EQ(*longest_index_list(), 64u);
  setenv("SLURM_BITSTR_LEN", "10", 1);
  EXPECT_EQ(*longest_index_list(), 10u);
  setenv("SLURM_BITSTR_LEN", "ten", 1);
  EXPECT_EQ(*longest_index_list(), 64u) << "Slurm's own commands take no notice of it either";
  setenv("ARES_BITSTR_LEN", "0", 1);
  EXPECT_EQ(*longest_index_list(), 0u);
  setenv("ARES_BITSTR_LEN", "many", 1);
  ASSERT_FALSE(longest_index_list());
  EXPECT_NE(longest_index_list().error().message.find("ARES_BITSTR_LEN"), std::string::npos);
}

}  // namespace
}  // namespace ares::cli
