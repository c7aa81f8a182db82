// Hostile users and plans: arrays in a million ranges, negative memory.
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

// `count` tasks, beginning with `first`, at distances of `step`.
JobSelector tasks(JobKey array, std::uint32_t first, std::uint32_t count, std::uint32_t step) {
  JobSelector named;
  for (std::uint32_t i = 0; i < count; ++i)
    named.keys.push_back({array.job, TaskIndex{first + i * step}});
  return named;
}

Reply cancel(Cluster& c, JobSelector named, UserId by = kAlice) {
  Cancel cancel;
  cancel.jobs = std::move(named);
  return c.user(by, cancel);
}

TEST(ScatteredArray, CancelMayNotLeaveTooManyRanges) {
  Cluster c;
  const JobKey array = c.submit(array_of(40'000));
  const Reply reply = cancel(c, tasks(array, 1, 12'000, 2));
  EXPECT_EQ(reply.error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(reply.error.message,
            "job 1: without the tasks named, 12001 separate ranges of its tasks would be left "
            "waiting; at most 10000 are allowed: name tasks that follow one another, or the whole "
            "array");
  EXPECT_EQ(c.state().jobs.size(), 1u) << "nothing is done of what is refused";
  EXPECT_EQ(c.job(array).array->waiting.count(), 40'000u);

  HoldJobs hold;
  hold.jobs = tasks(array, 1, 12'000, 2);
  EXPECT_EQ(c.user(kAlice, hold).error.code, ErrorCode::invalid_argument);
}

TEST(ScatteredArray, RangesOfSeveralCommandsAddUp) {
  Cluster c;
  JobSpec s = array_of(30'000);
  s.array->clear();
  for (std::uint32_t i = 0; i < 9'998; ++i) s.array->insert(4 * i, 4 * i + 2);
  const JobKey array = c.submit(s);
  EXPECT_FALSE(cancel(c, tasks(array, 1, 2, 4)).failed);
  EXPECT_EQ(c.job(array).array->waiting.intervals().size(), 10'000u);
  EXPECT_EQ(cancel(c, tasks(array, 9, 1, 4)).error.code, ErrorCode::invalid_argument);
  EXPECT_FALSE(cancel(c, tasks(array, 8, 1, 4)).failed) << "at the end of a piece";
  EXPECT_FALSE(cancel(c, tasks(array, 9, 2, 1)).failed) << "the rest of a piece";
  EXPECT_EQ(c.job(array).array->waiting.intervals().size(), 9'999u);
  EXPECT_FALSE(c.cancel(array).failed);
  EXPECT_EQ(c.job(array).state, JobState::cancelled);
}

TEST(ScatteredArray, ConsecutiveTasksAreNotLimited) {
  Cluster c;
  const JobKey array = c.submit(array_of(300));
  EXPECT_FALSE(cancel(c, tasks(array, 100, 100, 1)).failed);
  EXPECT_EQ(c.job(array).array->waiting.intervals().size(), 2u);
  EXPECT_FALSE(cancel(c, tasks(array, 0, 100, 1)).failed);
  EXPECT_FALSE(cancel(c, tasks(array, 200, 100, 1)).failed);
  EXPECT_TRUE(c.job(array).array->waiting.empty());
}

TEST(ScatteredArray, PermissionIsCheckedFirst) {
  Cluster c;
  const JobKey array = c.submit(array_of(40'000));
  EXPECT_EQ(cancel(c, tasks(array, 1, 12'000, 2), kBob).error.code, ErrorCode::permission_denied);
}

TEST(Plan, NegativeMemoryInAShareIsRefused) {
  Cluster c;
  const JobKey key = c.submit();
  PlanGroup bad = c.group(key, {1});
  bad.starts.front().nodes.change(0, [](NodeShare& share) { share.memory = Bytes::gib(-100); });
  c.plan({bad});
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_TRUE(c.node(1).charges.empty());
  c.allocate(key, {1});
}

}  // namespace
}  // namespace ares::core
