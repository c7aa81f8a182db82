// Tests: decide_update
// Updates of dependencies and of arrays.
#include "unit/core/update_request.h"

namespace ares::core {
namespace {

TEST(UpdateDependency, SetsAndClearsAndResetsAFailure) {
  Cluster c;
  const JobKey target = c.submit(), waiting = c.submit();
  EXPECT_FALSE(c.user(kAlice, depend(waiting, {{DependencyKind::after_ok, target}})).failed);
  EXPECT_EQ(c.job(waiting).waiting_for.size(), 1u);
  c.plan({c.group(waiting, {2})});
  EXPECT_EQ(c.job(waiting).state, JobState::pending);
  c.start(target, {1});
  c.progress(1, target, AttemptPhase::done, 1);
  EXPECT_TRUE(c.job(waiting).dependency_failed);
  EXPECT_EQ(c.job(waiting).reason, Reason::dependency_never_satisfied);
  EXPECT_FALSE(c.user(kAlice, depend(waiting, {})).failed);
  EXPECT_FALSE(c.job(waiting).dependency_failed);
  EXPECT_EQ(c.job(waiting).reason, Reason::none);
  c.allocate(waiting, {2});
}

TEST(UpdateDependency, OnAFailedJobFailsAtOnce) {
  Cluster c;
  const JobKey target = c.submit(), waiting = c.submit();
  c.start(target, {1});
  c.progress(1, target, AttemptPhase::done, 1);
  EXPECT_FALSE(c.user(kAlice, depend(waiting, {{DependencyKind::after_ok, target}})).failed);
  EXPECT_TRUE(c.job(waiting).dependency_failed);
  EXPECT_FALSE(c.user(kAlice, depend(waiting, {{DependencyKind::after_not_ok, target}})).failed);
  EXPECT_FALSE(c.job(waiting).dependency_failed);
  EXPECT_TRUE(c.job(waiting).waiting_for.empty());
}

TEST(UpdateDependency, OnAnUnknownJobIsRefused) {
  Cluster c;
  const JobKey key = c.submit();
  const Reply reply = c.user(kAlice, depend(key, {{DependencyKind::after_ok, {JobId{99}, {}}}}));
  EXPECT_EQ(reply.error.code, ErrorCode::invalid_argument);
  EXPECT_NE(reply.error.message.find("99"), std::string::npos);
}

TEST(UpdateDependency, CycleIsRefused) {
  Cluster c;
  const JobKey first = c.submit(), second = c.submit(), third = c.submit();
  EXPECT_FALSE(c.user(kAlice, depend(second, {{DependencyKind::after_any, first}})).failed);
  EXPECT_FALSE(c.user(kAlice, depend(third, {{DependencyKind::after_any, second}})).failed);
  const Reply reply = c.user(kAlice, depend(first, {{DependencyKind::after_any, third}}));
  EXPECT_EQ(reply.error.code, ErrorCode::invalid_argument);
  EXPECT_NE(reply.error.message.find("job 3 waits for this job"), std::string::npos)
      << reply.error.message;
  EXPECT_TRUE(c.user(kAlice, depend(first, {{DependencyKind::after_any, first}})).failed);
  EXPECT_TRUE(c.job(first).waiting_for.empty());

  const JobKey array = c.submit(array_of(3));
  EXPECT_TRUE(c.user(kAlice, depend(array, {{DependencyKind::after_any, task(array, 1)}})).failed);
  EXPECT_TRUE(c.user(kAlice, depend(task(array, 1), {{DependencyKind::after_any, array}})).failed);
  EXPECT_FALSE(
      c.user(kAlice, depend(task(array, 1), {{DependencyKind::after_any, task(array, 0)}})).failed);
  EXPECT_TRUE(
      c.user(kAlice, depend(task(array, 0), {{DependencyKind::after_any, task(array, 1)}})).failed);
}

TEST(UpdateDependency, DelayCountsFromTheStartAndCanBeCleared) {
  Cluster c;
  const JobKey target = c.submit(), waiting = c.submit();
  c.start(target, {1});
  Dependency after{DependencyKind::after, target};
  after.delay = Seconds{300};
  EXPECT_FALSE(c.user(kAlice, depend(waiting, {after})).failed);
  EXPECT_TRUE(c.job(waiting).waiting_for.empty());
  EXPECT_EQ(c.job(waiting).not_before, c.now + Seconds{300});
  EXPECT_FALSE(c.user(kAlice, depend(waiting, {})).failed);
  c.allocate(waiting, {2});
}

TEST(UpdateDependency, TaskByTaskOnAnEndedArray) {
  Cluster c;
  const JobKey first = c.submit(array_of(2)), second = c.submit(array_of(2));
  for (const std::uint32_t i : {0u, 1u}) {
    c.start(task(first, i), {1});
    c.progress(1, task(first, i), AttemptPhase::done, static_cast<std::int32_t>(i));
  }
  EXPECT_FALSE(c.user(kAlice, depend(second, {{DependencyKind::after_corr, first}})).failed);
  c.allocate(task(second, 0), {1});
  EXPECT_TRUE(c.job(second).dependency_failed) << "task 1 of the first failed";
}

TEST(UpdateArray, TaskGetsARecordAndSpecificationsAreShared) {
  Cluster c;
  const JobKey array = c.submit(array_of(4));
  EXPECT_FALSE(
      c.user(kAlice, set(task(array, 2), {"name"}, [](JobSpec& v) { v.name = "two"; })).failed);
  EXPECT_EQ(c.job(task(array, 2)).spec->name, "two");
  EXPECT_EQ(c.job(array).spec->name, "test");

  JobSelector some;
  some.keys = {task(array, 0), task(array, 1)};
  UpdateJob both = set(array, {"comment"}, [](JobSpec& v) { v.comment = "both"; });
  both.jobs = some;
  EXPECT_FALSE(c.user(kAlice, both).failed);
  EXPECT_EQ(c.job(task(array, 0)).spec, c.job(task(array, 1)).spec) << "copied once";

  EXPECT_FALSE(
      c.user(kAlice, set(array, {"account"}, [](JobSpec& v) { v.account = "lab"; })).failed);
  for (const std::uint32_t i : {0u, 1u, 2u}) EXPECT_EQ(c.job(task(array, i)).spec->account, "lab");
  EXPECT_EQ(c.job(array).spec->account, "lab");
  EXPECT_EQ(c.job(task(array, 2)).spec->name, "two");
}

TEST(UpdateArray, ThrottleTakesEffectAtOnceAndBelongsToTheArray) {
  Cluster c;
  const JobKey array = c.submit(array_of(5, 1));
  c.allocate(task(array, 0), {1});
  c.plan({c.group(task(array, 1), {2})});
  EXPECT_EQ(c.sent<Prepare>(2), 0u);
  UpdateJob wider;
  wider.jobs = Cluster::named(array);
  wider.array_throttle = 2;
  EXPECT_FALSE(c.user(kAlice, wider).failed);
  c.allocate(task(array, 1), {2});
  EXPECT_EQ(c.happened<Modified>(), 1u) << "the tasks that run are left alone";

  wider.jobs = Cluster::named(task(array, 3));
  EXPECT_NE(c.user(kAlice, wider).error.message.find("name job 1"), std::string::npos);
  wider.jobs = Cluster::named(c.submit());
  EXPECT_NE(c.user(kAlice, wider).error.message.find("not an array"), std::string::npos);
}

TEST(UpdateArray, LowerThrottleEndsNoTaskAndDelaysTheNext) {
  Cluster c;
  const JobKey array = c.submit(array_of(5, 2));
  c.start(task(array, 0), {1});
  c.start(task(array, 1), {2});
  UpdateJob narrower;
  narrower.jobs = Cluster::named(array);
  narrower.array_throttle = 1;
  ASSERT_FALSE(c.user(kAlice, narrower).failed);
  EXPECT_EQ(c.job(task(array, 0)).state, JobState::running);
  EXPECT_EQ(c.job(task(array, 1)).state, JobState::running);
  c.progress(1, task(array, 0), AttemptPhase::done);
  c.plan({c.group(task(array, 2), {1})});
  EXPECT_EQ(c.sent<Prepare>(1), 1u) << "one runs still";
  c.progress(2, task(array, 1), AttemptPhase::done);
  c.start(task(array, 2), {1});
  EXPECT_EQ(c.job(task(array, 2)).state, JobState::running);
}

}  // namespace
}  // namespace ares::core
