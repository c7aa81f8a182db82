#include "aresstepd/steps/step_records.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace ares::stepd {
namespace {

class StepRecordsTest : public testing::Test {
 protected:
  StepRecordsTest() {
    std::string pattern = testing::TempDir() + "records-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~StepRecordsTest() override { std::filesystem::remove_all(directory_); }
  StepRecords host() {
    Result<StepRecords> records = StepRecords::open(directory_, "state");
    EXPECT_TRUE(records) << records.error().message;
    return std::move(*records);
  }
  std::string directory_;
};

TEST_F(StepRecordsTest, NumbersAreUsedOnceAlsoByTheNextHost) {
  {
    StepRecords first = host();
    EXPECT_EQ(first.new_number(), 0U);
    EXPECT_EQ(first.new_number(), 1U);
  }
  EXPECT_EQ(host().new_number(), 2U);
}

TEST_F(StepRecordsTest, StepBeginsAtMostOnce) {
  StepRecords records = host();
  EXPECT_TRUE(records.begin(1)) << "steps may begin in any order";
  EXPECT_TRUE(records.begin(0));
  EXPECT_FALSE(records.begin(1));
  EXPECT_FALSE(records.begin(0));
}

TEST_F(StepRecordsTest, WhatAnEarlierHostMayHaveBegunIsNotBegunAgain) {
  EXPECT_TRUE(host().begin(4));
  StepRecords next = host();
  EXPECT_FALSE(next.begin(4));
  EXPECT_FALSE(next.begin(3));
  EXPECT_TRUE(next.begin(5));
}

TEST_F(StepRecordsTest, DirectoryThatIsMissingIsAnError) {
  EXPECT_FALSE(StepRecords::open(directory_ + "/missing", "state"));
}

}  // namespace
}  // namespace ares::stepd
