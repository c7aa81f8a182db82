#include "cli/values/step_ids.h"

#include <gtest/gtest.h>

#include "model/job/step_record.h"

namespace ares::cli {
namespace {

JobKey job(std::uint64_t id) {
  return {JobId(id), TaskIndex{}};
}

TEST(StepIds, JobsAndStepsAreToldApart) {
  const auto ids = parse_step_ids("12,12.0,13.batch,14_3.2,15_[1,2],16.others");
  ASSERT_TRUE(ids) << ids.error().message;
  EXPECT_EQ(ids->whole,
            (std::vector<JobKey>{job(12), {JobId(15), TaskIndex{1}}, {JobId(15), TaskIndex{2}}}));
  EXPECT_EQ(ids->steps, (std::vector<StepId>{{job(12), 0},
                                             {job(13), kBatchStep},
                                             {{JobId(14), TaskIndex{3}}, 2},
                                             {job(16), kOtherSteps}}));
  EXPECT_EQ(ids->jobs().size(), 6u) << "each job once";
}

TEST(StepIds, OtherTextIsRefused) {
  for (const char* text : {"", "12.", "12.x", "12.-1", "12.4294967296", ".0", "x.0", "12.0.1"})
    EXPECT_FALSE(parse_step_ids(text)) << text;
}

TEST(StepIds, AListHasABoundHoweverManyArraysItNames) {
  EXPECT_TRUE(parse_step_ids("1_[0-99999].0"));
  const auto refused = parse_step_ids("1_[0-99999].0,2_[0-99999].0");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("more than 100000 tasks"), std::string::npos);
  EXPECT_FALSE(parse_step_ids("1_[0-99999],2.0"));
}

TEST(StepIds, StepsArePrintedAsTheyAreRead) {
  EXPECT_EQ(format_step(kBatchStep), "batch");
  EXPECT_EQ(format_step(kOtherSteps), "others");
  EXPECT_EQ(format_step(7), "7");
}

}  // namespace
}  // namespace ares::cli
