// Names of states and reasons, as scripts of users know them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/state/indexes.h"
#include "core/state/timers.h"
#include "model/engine/state.h"

namespace ares {
namespace {

TEST(JobState, NamesAndCodesAreParsedBack) {
  for (int i = 0; i <= static_cast<int>(JobState::deadline); ++i) {
    const auto state = static_cast<JobState>(i);
    EXPECT_EQ(parse_job_state(to_string(state)), state);
    EXPECT_EQ(parse_job_state(short_code(state)), state);
  }
  EXPECT_EQ(parse_job_state("running"), JobState::running);
  EXPECT_EQ(parse_job_state("oom"), JobState::out_of_memory);
  EXPECT_EQ(parse_job_state("RUN"), std::nullopt);
  EXPECT_EQ(parse_job_state(""), std::nullopt);
}

TEST(Reason, IsSpelledAsInSlurm) {
  EXPECT_EQ(to_string(Reason::job_held_user), "JobHeldUser");
  EXPECT_EQ(to_string(Reason::dependency_never_satisfied), "DependencyNeverSatisfied");
  EXPECT_EQ(to_string(Reason::licenses), "Licenses");
  EXPECT_EQ(to_string(Reason::deadline), "DeadLine");
  EXPECT_EQ(to_string(Reason::non_zero_exit_code), "NonZeroExitCode");
}

TEST(Job, SpecificationsAreComparedByValue) {
  JobSpec spec;
  spec.name = "a";
  Job a, b;
  a.spec = std::make_shared<const JobSpec>(spec);
  b.spec = std::make_shared<const JobSpec>(spec);
  EXPECT_TRUE(a == b);
  spec.name = "b";
  b.spec = std::make_shared<const JobSpec>(spec);
  EXPECT_FALSE(a == b);
  b.spec.reset();
  EXPECT_FALSE(a == b);
}

TEST(Index, FollowsFromTheRecord) {
  Job job;
  job.key = {JobId{1}, {}};
  EXPECT_TRUE(is_queued(job));
  job.array.emplace();
  EXPECT_FALSE(is_queued(job)) << "all its tasks have records of their own";
  job.array->waiting.insert(3);
  EXPECT_TRUE(is_queued(job));
  job.waiting_for = {{DependencyKind::after_any, {JobId{9}, {}}},
                     {DependencyKind::after_ok, {JobId{9}, {}}},
                     {DependencyKind::after, {JobId{9}, {}}},
                     {DependencyKind::after_corr, {JobId{9}, {}}},
                     {DependencyKind::after, {JobId{9}, TaskIndex{1}}},
                     {DependencyKind::singleton, {}}};
  JobSpec spec;
  spec.array.emplace();
  job.spec = std::make_shared<const JobSpec>(spec);
  EXPECT_THAT(prerequisites(job),
              ::testing::ElementsAre(JobKey{JobId{1}, kFirstOfName}, JobKey{JobId{9}, TaskIndex{1}},
                                     JobKey{JobId{9}, kAllStarted}, JobKey{JobId{9}, kEachTask},
                                     JobKey{JobId{9}, {}}));
  job.dependency_failed = true;
  EXPECT_TRUE(prerequisites(job).empty());
  job.state = JobState::completed;
  job.ended = Time{Seconds{5}};
  ASSERT_TRUE(timer_of(job));
  EXPECT_EQ(timer_of(job)->kind, TimerKind::finished);
}

}  // namespace
}  // namespace ares
