// Tests: jobs/progress
// What a command on a terminal says of the job that it waits for.
#include "cli/jobs/progress.h"

#include <gtest/gtest.h>

#include "unit/cli/answers.h"

namespace ares::cli {
namespace {

using answers::kNow;
using answers::kSecond;

const Time kClock{Duration{kNow}};
const JobKey kTwelve{JobId(12), {}};

api::Job task(std::uint32_t index, const std::string& state) {
  api::Job out = answers::job(12, state);
  out.mutable_key()->set_task(index);
  out.mutable_spec()->set_array("1-10");
  return out;
}

TEST(Progress, AJobIsPendingForAReasonAndThenRunsForATime) {
  api::Job job = answers::job(12, "PENDING");
  EXPECT_EQ(progress_text(kTwelve, {job}, kClock), "job 12: pending");
  job.set_reason("Resources");
  EXPECT_EQ(progress_text(kTwelve, {job}, kClock), "job 12: pending (Resources)");
  job.set_state("RUNNING");
  job.set_reason("None");
  job.set_started(kNow - 100 * kSecond);
  job.set_suspended(30 * kSecond);
  EXPECT_EQ(progress_text(kTwelve, {job}, kClock), "job 12: running 00:01:10");
  job.set_state("SUSPENDED");
  job.set_suspended_at(kNow - 10 * kSecond);
  EXPECT_EQ(progress_text(kTwelve, {job}, kClock), "job 12: suspended 00:01:00");
  EXPECT_EQ(progress_text(kTwelve, {}, kClock), "") << "it has ended";
}

TEST(Progress, AnArrayIsCounted) {
  api::Job rest = answers::job(12, "PENDING");
  rest.set_array_tasks("6-10%2");
  rest.mutable_spec()->set_array("1-10");
  EXPECT_EQ(
      progress_text(kTwelve, {task(3, "RUNNING"), task(4, "COMPLETING"), task(5, "PENDING"), rest},
                    kClock),
      "array 12: 2 of 10 ended, 2 running");
  EXPECT_EQ(progress_text(kTwelve, {rest}, kClock), "array 12: 5 of 10 ended, 0 running");
}

TEST(Progress, ATaskIsAJob) {
  EXPECT_EQ(progress_text({JobId(12), TaskIndex{3}}, {task(3, "RUNNING")}, kClock),
            "job 12_3: running");
  EXPECT_EQ(progress_text({JobId(15), {}}, {task(3, "RUNNING")}, kClock), "job 15: running")
      << "named by its own id";
}

}  // namespace
}  // namespace ares::cli
