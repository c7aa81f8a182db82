// Tests: decide_jobs, decide_plan
// Pending jobs: holds, dependencies, arrays, requeue, limits.
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

JobSpec after(DependencyKind kind, JobKey target, bool kill = false) {
  JobSpec s = Cluster::spec();
  s.dependencies = {{kind, target}};
  s.kill_on_invalid_dependency = kill;
  return s;
}

TEST(Hold, UserCannotReleaseAnAdministratorsHold) {
  Cluster c;
  const JobKey key = c.submit();
  c.user(kOperator, HoldJobs{Cluster::named(key)});
  EXPECT_EQ(c.job(key).reason, Reason::job_held_admin);
  const Reply alice = c.user(kAlice, ReleaseJobs{Cluster::named(key)});
  EXPECT_EQ(alice.error.code, ErrorCode::permission_denied);
  EXPECT_EQ(c.job(key).hold, Hold::admin);
  c.user(kOperator, ReleaseJobs{Cluster::named(key)});
  EXPECT_EQ(c.job(key).hold, Hold::none);
}

TEST(Hold, HeldJobDoesNotStartAndAgesFromItsRelease) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.hold = true;
  const JobKey key = c.submit(s);
  EXPECT_EQ(c.job(key).reason, Reason::job_held_user);
  c.plan({c.group(key, {1})});
  EXPECT_EQ(c.job(key).state, JobState::pending);
  c.now += Seconds{100};
  c.user(kAlice, ReleaseJobs{Cluster::named(key)});
  EXPECT_EQ(c.job(key).eligible, c.now);
  c.allocate(key, {1});
  EXPECT_EQ(c.user(kAlice, HoldJobs{Cluster::named(key)}).error.code,
            ErrorCode::failed_precondition);
}

struct Kind {
  DependencyKind kind;
  bool target_succeeds;
  bool met;
};

TEST(Dependency, EndOfTheTargetDecides) {
  const Kind cases[] = {
      {DependencyKind::after_any, true, true},     {DependencyKind::after_any, false, true},
      {DependencyKind::after_ok, true, true},      {DependencyKind::after_ok, false, false},
      {DependencyKind::after_not_ok, true, false}, {DependencyKind::after_not_ok, false, true}};
  for (const Kind& k : cases) {
    SCOPED_TRACE(static_cast<int>(k.kind) * 2 + (k.target_succeeds ? 1 : 0));
    Cluster c;
    const JobKey target = c.submit(), waiting = c.submit(after(k.kind, target)),
                 killed = c.submit(after(k.kind, target, true));
    c.plan({c.group(waiting, {1})});
    EXPECT_EQ(c.job(waiting).state, JobState::pending) << "it must not start before";
    c.start(target, {1});
    c.progress(1, target, AttemptPhase::done, k.target_succeeds ? 0 : 1);
    EXPECT_EQ(c.job(waiting).waiting_for.empty(), k.met);
    EXPECT_EQ(c.job(waiting).dependency_failed, !k.met);
    EXPECT_EQ(c.job(killed).state, k.met ? JobState::pending : JobState::cancelled);
    if (k.met) {
      c.allocate(waiting, {1});
    } else {
      EXPECT_EQ(c.job(killed).reason, Reason::cancelled_dependency);
    }
  }
}

TEST(Dependency, AfterNeedsOnlyTheStart) {
  Cluster c;
  const JobKey target = c.submit(), waiting = c.submit(after(DependencyKind::after, target));
  c.allocate(target, {1});
  EXPECT_FALSE(c.job(waiting).waiting_for.empty());
  c.progress(1, target, AttemptPhase::ready);
  EXPECT_TRUE(c.job(waiting).waiting_for.empty());
}

TEST(Dependency, StaysFailedIfTheTargetRunsAgain) {
  Cluster c;
  const JobKey target = c.submit(), waiting = c.submit(after(DependencyKind::after_ok, target));
  c.start(target, {1});
  c.progress(1, target, AttemptPhase::done, 1);
  c.user(kAlice, RequeueJobs{Cluster::named(target), false});
  c.start(target, {1});
  c.progress(1, target, AttemptPhase::done, 0);
  EXPECT_EQ(c.job(target).state, JobState::completed);
  EXPECT_TRUE(c.job(waiting).dependency_failed);
  EXPECT_EQ(c.job(waiting).reason, Reason::dependency_never_satisfied);
}

TEST(Dependency, RequeueOfACancelledJobEvaluatesItAgain) {
  for (const bool succeeds : {true, false}) {
    Cluster c;
    const JobKey target = c.submit(), waiting = c.submit(after(DependencyKind::after_ok, target)),
                 early = c.submit(after(DependencyKind::after_any, target));
    c.user(kAlice, Cancel{Cluster::named(waiting)});
    c.user(kAlice, Cancel{Cluster::named(early)});
    c.user(kAlice, RequeueJobs{Cluster::named(early), false});
    EXPECT_FALSE(c.job(early).waiting_for.empty()) << "its target has not ended yet";
    c.start(target, {1});
    c.progress(1, target, AttemptPhase::done, succeeds ? 0 : 1);
    EXPECT_TRUE(c.job(early).waiting_for.empty());
    c.user(kAlice, RequeueJobs{Cluster::named(waiting), false});
    EXPECT_EQ(c.job(waiting).waiting_for.empty(), succeeds);
    EXPECT_EQ(c.job(waiting).dependency_failed, !succeeds);
    if (succeeds) c.allocate(waiting, {1});
  }
}

TEST(Dependency, OnAnArrayWaitsForItsLastTask) {
  Cluster c;
  const JobKey array = c.submit(array_of(2)),
               waiting = c.submit(after(DependencyKind::after_any, array));
  const JobKey ok = c.submit(after(DependencyKind::after_ok, task(array, 0)));
  c.start(task(array, 0), {1});
  c.progress(1, task(array, 0), AttemptPhase::done, 0);
  EXPECT_TRUE(c.job(ok).waiting_for.empty()) << "one task is enough for it";
  EXPECT_FALSE(c.job(waiting).waiting_for.empty());
  c.start(task(array, 1), {1});
  c.progress(1, task(array, 1), AttemptPhase::done, 1);
  EXPECT_EQ(c.job(array).state, JobState::failed);
  EXPECT_TRUE(c.job(waiting).waiting_for.empty());
}

TEST(Array, TasksGetRecordsAtStartAndTheThrottleApplies) {
  Cluster c;
  const JobKey array = c.submit(array_of(5, 2));
  const Reply reply = c.plan(
      {c.group(task(array, 0), {1}), c.group(task(array, 1), {2}), c.group(task(array, 2), {3})});
  EXPECT_EQ(reply.text, "2 of 3 groups taken");
  EXPECT_EQ(c.job(array).array->waiting.count(), 3u);
  EXPECT_EQ(c.job(array).array->holding, 2u);
  EXPECT_EQ(c.last_sent<Prepare>(2)->launch.array_count, 5u);
  EXPECT_EQ(c.last_sent<Prepare>(2)->launch.own_id.value(), array.job.value() + 2);
  c.progress(1, task(array, 0), AttemptPhase::ready);
  c.progress(1, task(array, 0), AttemptPhase::done);
  c.allocate(task(array, 2), {1});
}

TEST(Array, OneTaskOrAllTasksAreCancelled) {
  Cluster c;
  const JobKey array = c.submit(array_of(4));
  c.start(task(array, 0), {1});
  c.cancel(task(array, 2));
  EXPECT_EQ(c.job(task(array, 2)).state, JobState::cancelled);
  EXPECT_EQ(c.job(array).array->waiting.count(), 2u);
  EXPECT_EQ(c.job(array).state, JobState::pending);
  c.cancel(array);
  EXPECT_FALSE(c.state().pending.find(array));
  EXPECT_EQ(c.job(task(array, 0)).state, JobState::completing);
  c.progress(1, task(array, 0), AttemptPhase::done);
  EXPECT_EQ(c.job(array).state, JobState::cancelled);
  EXPECT_EQ(c.job(array).ending->by, kAlice);
}

TEST(Array, RequeueOfATaskReopensTheArray) {
  Cluster c;
  const JobKey array = c.submit(array_of(1));
  c.start(task(array, 0), {1});
  c.progress(1, task(array, 0), AttemptPhase::done, 1);
  EXPECT_EQ(c.job(array).state, JobState::failed);
  c.user(kAlice, RequeueJobs{Cluster::named(array), false});
  EXPECT_EQ(c.job(task(array, 0)).state, JobState::pending);
  EXPECT_EQ(c.job(array).state, JobState::pending);
  c.start(task(array, 0), {1});
  c.progress(1, task(array, 0), AttemptPhase::done, 0);
  EXPECT_EQ(c.job(array).state, JobState::completed);
}

TEST(Array, CancelledTasksStayCancelledWhenAnotherRunsAgain) {
  Cluster c;
  const JobKey array = c.submit(array_of(3));
  c.start(task(array, 0), {1});
  c.cancel(array);
  c.progress(1, task(array, 0), AttemptPhase::done);
  EXPECT_EQ(c.row(array, 0)->state, JobState::cancelled) << "stands for tasks 1 and 2";
  c.user(kAlice, RequeueJobs{Cluster::named(task(array, 0)), false});
  EXPECT_EQ(c.job(array).state, JobState::pending);
  c.start(task(array, 0), {1});
  c.progress(1, task(array, 0), AttemptPhase::done, 0);
  EXPECT_EQ(c.job(task(array, 0)).state, JobState::completed);
  EXPECT_EQ(c.job(array).state, JobState::cancelled);
  EXPECT_EQ(c.row(array, 0)->state, JobState::cancelled);
}

TEST(Requeue, NextAttemptStartsAfterTheFirstHasEnded) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  c.user(kAlice, RequeueJobs{Cluster::named(key), false});
  EXPECT_EQ(c.job(key).state, JobState::completing);
  c.plan({c.group(key, {2})});
  EXPECT_EQ(c.sent<Prepare>(2), 0u) << "the first attempt has not ended";
  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  ASSERT_TRUE(c.row(key, 1));
  EXPECT_EQ(c.row(key, 1)->reason, Reason::requeued);
  c.allocate(key, {2});
  EXPECT_EQ(c.job(key).attempt, AttemptNo{2});
  EXPECT_EQ(c.last_sent<Prepare>(2)->launch.restarts, 1u);
}

TEST(Requeue, WithHoldWaitsForARelease) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  c.user(kAlice, RequeueJobs{Cluster::named(key), true});
  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).hold, Hold::user);
  EXPECT_FALSE(c.user(kAlice, ReleaseJobs{Cluster::named(key)}).failed);
  c.allocate(key, {1});
}

TEST(Requeue, SpecialExitIsAHoldThatUsersMayEnd) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  c.user(kOperator, RequeueJobs{Cluster::named(key), true, false, true});
  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).hold, Hold::special_exit);
  EXPECT_EQ(c.job(key).reason, Reason::job_held_user);
  c.plan({c.group(key, {1})});
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_FALSE(c.user(kAlice, ReleaseJobs{Cluster::named(key)}).failed);
  c.allocate(key, {1});
}

TEST(Start, RecordsThePriorityByWhichItWasRanked) {
  Cluster c;
  const JobKey key = c.submit();
  PlanGroup group = c.group(key, {1});
  group.starts[0].priority = 4711;
  c.plan({group});
  ASSERT_TRUE(c.row(key, 1));
  EXPECT_EQ(c.row(key, 1)->priority, 4711u);
}

TEST(Requeue, CancellationPrecedesIt) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  c.user(kAlice, RequeueJobs{Cluster::named(key), false});
  c.cancel(key);
  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::cancelled);
}

TEST(Requeue, IsRefusedForJobsSubmittedWithoutRequeue) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.requeue = false;
  const JobKey key = c.submit(s);
  c.start(key, {1});
  EXPECT_TRUE(c.user(kAlice, RequeueJobs{Cluster::named(key), false}).failed);
  EXPECT_EQ(c.job(key).state, JobState::running);
}

TEST(Update, OwnerLowersTheLimitAndOnlyAnOperatorRaisesIt) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  EXPECT_FALSE(c.user(kAlice, UpdateJob{Cluster::named(key), {}, true, Seconds{600}}).failed);
  ASSERT_TRUE(c.last_sent<SetLimit>(1));
  EXPECT_EQ(c.last_sent<SetLimit>(1)->time_limit, Seconds{600});
  EXPECT_EQ(c.user(kAlice, UpdateJob{Cluster::named(key), {}, true, Seconds{601}}).error.code,
            ErrorCode::permission_denied);
  EXPECT_FALSE(c.user(kOperator, UpdateJob{Cluster::named(key), {}, true, std::nullopt}).failed);
  EXPECT_EQ(c.job(key).allocation->time_limit, std::nullopt);
  EXPECT_EQ(c.user(kAlice, UpdateJob{Cluster::named(key), 5, false, {}}).error.code,
            ErrorCode::permission_denied);
}

TEST(Signal, ReachesRunningJobsWithItsLsn) {
  Cluster c;
  const JobKey key = c.submit();
  Cancel signal;
  signal.jobs = Cluster::named(key);
  signal.signal = 10;
  EXPECT_EQ(c.user(kAlice, signal).error.code, ErrorCode::failed_precondition)
      << "it does not run yet";
  c.start(key, {1});
  EXPECT_FALSE(c.user(kAlice, signal).failed);
  const Lsn first = c.last_sent<Signal>(1)->lsn;
  EXPECT_FALSE(c.user(kAlice, signal).failed);
  EXPECT_GT(c.last_sent<Signal>(1)->lsn, first);
  EXPECT_EQ(c.job(key).state, JobState::running);
  signal.signal = 99;
  EXPECT_EQ(c.user(kAlice, signal).error.code, ErrorCode::invalid_argument);
}

TEST(Forget, FinishedJobsAreRemovedUnlessAJobWaitsForThem) {
  Cluster c;
  const JobKey done = c.submit(), wanted = c.submit();
  JobSpec s = after(DependencyKind::after_ok, wanted);
  s.dependencies.push_back({DependencyKind::after_ok, c.submit()});
  const JobKey array = c.submit(array_of(3));
  c.submit(s);
  for (JobKey key : {done, task(array, 0)}) {
    c.start(key, {1});
    c.progress(1, key, AttemptPhase::done);
  }
  c.tick(c.policy->min_job_age);
  EXPECT_FALSE(c.state().jobs.find(done));
  EXPECT_TRUE(c.state().jobs.find(task(array, 0))) << "its array still lives";
  EXPECT_TRUE(c.state().jobs.find(wanted));
  c.cancel(array);
  c.tick(c.policy->min_job_age);
  EXPECT_FALSE(c.state().jobs.find(task(array, 0)));
  EXPECT_FALSE(c.state().jobs.find(array));
}

}  // namespace
}  // namespace ares::core
