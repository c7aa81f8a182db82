// Jobs are notified of ends and starts that they depend on: all of them, in bounded batches, and by the next controller too.
#include "core/job/follow/dependency_notifications.h"

#include <gmock/gmock.h>

#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::IsEmpty;

constexpr std::size_t kBatch = Bounds{}.batch_events;

JobSpec after(DependencyKind kind, JobKey target, JobSpec s = Cluster::spec()) {
  s.dependencies.push_back({kind, target});
  return s;
}

// Submits `count` copies of this job in one request.
std::vector<JobKey> submit_many(Cluster& c, const JobSpec& like, std::size_t count) {
  SubmitMany many;
  for (std::size_t i = 0; i < count; ++i) many.specs.push_back(std::make_shared<JobSpec>(like));
  const Reply reply = c.user(kAlice, many);
  EXPECT_FALSE(reply.failed) << reply.error.message;
  c.largest_batch = 0;
  return reply.jobs;
}

void finish(Cluster& c, JobKey key, std::int32_t code = 0) {
  c.start(key, {1});
  c.progress(1, key, AttemptPhase::done, code);
}

std::size_t still_waiting(const ClusterState& state) {
  std::size_t count = 0;
  state.jobs.for_each([&](const JobKey&, const Job& job) {
    count += is_queued(job) && !job.waiting_for.empty() && !job.dependency_failed ? 1 : 0;
  });
  return count;
}

TEST(DependencyNotifications, EndOfAJobNotifiesThousandsInBatches) {
  for (const auto kind : {DependencyKind::after_ok, DependencyKind::after_not_ok}) {
    Cluster c;
    const JobKey target = c.submit();
    const auto jobs = submit_many(c, after(kind, target), 3000);
    finish(c, target);
    EXPECT_LE(c.largest_batch, kBatch + 10);
    for (const JobKey& key : jobs) {
      ASSERT_EQ(c.job(key).waiting_for.empty(), kind == DependencyKind::after_ok);
      ASSERT_EQ(c.job(key).dependency_failed, kind == DependencyKind::after_not_ok);
    }
  }
}

// Each of them is cancelled, and each cancellation notifies the jobs that depend on it.
TEST(DependencyNotifications, CascadeOfCancellationsIsBatched) {
  Cluster c;
  const JobKey target = c.submit();
  JobSpec fragile = after(DependencyKind::after_ok, target);
  fragile.kill_on_invalid_dependency = true;
  for (const JobKey& key : submit_many(c, fragile, 300)) {
    JobSpec next = after(DependencyKind::after_ok, key);
    next.kill_on_invalid_dependency = true;
    c.submit(next);
  }
  c.largest_batch = 0;
  finish(c, target, 1);
  EXPECT_LE(c.largest_batch, kBatch + 10);
  EXPECT_EQ(c.happened<Ended>(), 1u + 300 + 300);
  EXPECT_EQ(still_waiting(c.state()), 0u);
}

TEST(DependencyNotifications, StartOfAJobNotifiesThousandsInBatches) {
  Cluster c;
  const JobKey target = c.submit();
  submit_many(c, after(DependencyKind::after, target), 2000);
  c.start(target, {1});
  EXPECT_LE(c.largest_batch, kBatch + 10);
  EXPECT_EQ(still_waiting(c.state()), 0u);
}

TEST(DependencyNotifications, EndsOfArraysAndTasksNotifyInBatches) {
  Cluster c;
  const JobKey array = c.submit(array_of(2));
  submit_many(c, after(DependencyKind::after_ok, array), 800);
  submit_many(c, after(DependencyKind::after_any, task(array, 0)), 800);
  submit_many(c, after(DependencyKind::after, array), 800);
  finish(c, task(array, 0));
  EXPECT_EQ(still_waiting(c.state()), 1600u);
  c.start(task(array, 1), {1});
  EXPECT_EQ(still_waiting(c.state()), 800u);
  c.progress(1, task(array, 1), AttemptPhase::done, 0);
  EXPECT_EQ(still_waiting(c.state()), 0u);
  EXPECT_LE(c.largest_batch, kBatch + 10);
}

TEST(DependencyNotifications, CancelledTasksWithoutRecordsNotifyToo) {
  Cluster c;
  const JobKey array = c.submit(array_of(3));
  c.start(task(array, 0), {1});
  const JobKey waiting = c.submit(after(DependencyKind::after_ok, task(array, 2)));
  c.cancel(array);
  EXPECT_TRUE(c.job(waiting).dependency_failed);
}

// Regression: one command made two events for every task whose partner had ended.
TEST(DependencyNotifications, NewArrayIsNotifiedOfEndedPartnersInBatches) {
  Cluster c;
  const JobKey first = c.submit(array_of(301));
  for (std::uint32_t i = 0; i < 300; ++i) finish(c, task(first, i), i % 3 == 0 ? 1 : 0);
  c.largest_batch = 0;
  const JobKey second = c.submit(after(DependencyKind::after_corr, first, array_of(301)));
  EXPECT_LE(c.largest_batch, kBatch + 10);
  EXPECT_EQ(c.job(second).array->waiting.count(), 1u);
  for (std::uint32_t i = 0; i < 300; ++i)
    ASSERT_EQ(c.job(task(second, i)).dependency_failed, i % 3 == 0);
  finish(c, task(first, 300));
  EXPECT_TRUE(c.job(task(second, 300)).waiting_for.empty());
}

TEST(DependencyNotifications, ChangedArraysAreNotifiedOfEndedPartnersInBatches) {
  Cluster c;
  const JobKey first = c.submit(array_of(40));
  for (std::uint32_t i = 0; i < 30; ++i) finish(c, task(first, i));
  std::vector<JobKey> arrays;
  for (int i = 0; i < 30; ++i) arrays.push_back(c.submit(array_of(40)));
  c.largest_batch = 0;
  UpdateJob update;
  update.jobs.keys = arrays;
  update.fields = {"dependencies"};
  JobSpec values;
  values.dependencies = {{DependencyKind::after_corr, first}};
  update.values = std::make_shared<const JobSpec>(values);
  EXPECT_FALSE(c.user(kAlice, update).failed);
  EXPECT_LE(c.largest_batch, kBatch + 10);
  for (const JobKey& array : arrays) EXPECT_EQ(c.job(array).array->waiting.count(), 10u);
}

// Remaining tasks of an array whose partner array has ended get one notification, after those that may run.
TEST(DependencyNotifications, EndedPartnerArraySettlesAllTasksInOneEvent) {
  Cluster c;
  const JobKey first = c.submit(array_of(600));
  for (std::uint32_t i = 0; i < 300; ++i) finish(c, task(first, i));
  c.cancel(first);
  c.largest_batch = 0;
  const JobKey second = c.submit(after(DependencyKind::after_corr, first, array_of(600)));
  EXPECT_LE(c.largest_batch, kBatch + 10);
  EXPECT_TRUE(c.job(second).dependency_failed);
  EXPECT_EQ(c.job(second).array->waiting.count(), 300u);
  EXPECT_TRUE(c.job(task(second, 299)).waiting_for.empty());
}

// Regression: both partners had ended, and each of them created a record for the task.
TEST(DependencyNotifications, TaskWithTwoPartnersGetsOneRecord) {
  Cluster c;
  const JobKey one = c.submit(array_of(2)), two = c.submit(array_of(2));
  finish(c, task(one, 0));
  finish(c, task(two, 0));
  const std::size_t before = c.happened<TaskSplit>();
  const JobKey both = c.submit(
      after(DependencyKind::after_corr, two, after(DependencyKind::after_corr, one, array_of(2))));
  EXPECT_EQ(c.happened<TaskSplit>(), before + 1);
  EXPECT_TRUE(c.job(task(both, 0)).waiting_for.empty());
}

// Regression: the end that met one of the dependencies failed the other one, and thereby the job.
TEST(DependencyNotifications, MetDependencyIsSufficientWithAny) {
  for (const auto& [first, second] :
       {std::pair(DependencyKind::after_ok, DependencyKind::after_not_ok),
        std::pair(DependencyKind::after_not_ok, DependencyKind::after_ok)}) {
    Cluster c;
    const JobKey target = c.submit();
    JobSpec s = after(second, target, after(first, target));
    s.any_dependency = true;
    const JobKey waiting = c.submit(s);
    finish(c, target);
    EXPECT_FALSE(c.job(waiting).dependency_failed);
    EXPECT_TRUE(c.job(waiting).waiting_for.empty());
  }
}

// Regression: only the array's record was notified; tasks with records of their own waited for ever.
TEST(DependencyNotifications, SingletonTasksWithRecordsAreNotified) {
  Cluster c;
  const JobKey first = c.submit();
  const JobKey array = c.submit(after(DependencyKind::singleton, {}, array_of(3)));
  c.user(kAlice, HoldJobs{Cluster::named(task(array, 1))});
  EXPECT_FALSE(c.job(task(array, 1)).waiting_for.empty());
  c.cancel(first);
  EXPECT_TRUE(c.job(array).waiting_for.empty());
  EXPECT_TRUE(c.job(task(array, 1)).waiting_for.empty());
}

// Pending notifications are not stored: the next controller derives them from the records.
TEST(DependencyNotifications, NextControllerSendsRemainingNotifications) {
  Cluster c;
  const JobKey target = c.submit();
  submit_many(c, after(DependencyKind::after_any, target), 1000);
  c.start(target, {1});

  NodeCommand done;
  done.message = {"n1", c.incarnation[1], Progress{c.report(target, AttemptPhase::done)}};
  c.engine.handle({done}, c.now, 0);
  ASSERT_TRUE(c.engine.has_notifications());
  const EngineBatch first = c.engine.take_batch();
  ASSERT_GT(still_waiting(first.after), 0u);
  ASSERT_LT(still_waiting(first.after), 1000u);
  ASSERT_FALSE(missed_notifications(first.after).empty());

  Engine next(first.after, c.policy);
  next.handle({Activate{Epoch{2}, "other"}}, c.now, 0);
  std::size_t batches = 0;
  for (; next.has_batch() || next.has_notifications(); ++batches) {
    next.continue_notifications(c.now);
    EXPECT_LE(next.take_batch().events.size(), kBatch + 10);
    next.committed();
  }
  EXPECT_GT(batches, 1u);
  EXPECT_THAT(missed_notifications(next.state()), IsEmpty());
  EXPECT_EQ(still_waiting(next.state()), 0u);
}

// Jobs that wait for a whole array are not checked at each task: there may be tens of thousands of them.
TEST(DependencyNotifications, TasksDoNotNotifyJobsThatWaitForTheArray) {
  Cluster c;
  const JobKey array = c.submit(array_of(3));
  submit_many(c, after(DependencyKind::after_ok, array), 50);
  submit_many(c, after(DependencyKind::after, array), 50);
  std::vector<DependencyNotification> notifications;
  add_notifications_of_end(c.state(), task(array, 0), notifications);
  add_notifications_of_start(c.state(), task(array, 0), notifications);
  EXPECT_THAT(notifications, IsEmpty());
}

}  // namespace
}  // namespace ares::core
