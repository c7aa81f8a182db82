// Tests: follow, task_rank, dependency_checks
// Dependencies other than "the target ended": delays, any of several, task by task, singleton.
#include <algorithm>
#include <random>

#include "core/job/decide/decision_context.h"
#include "core/state/indexes.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

JobSpec after(std::vector<Dependency> dependencies, bool any = false) {
  JobSpec s = Cluster::spec();
  s.dependencies = std::move(dependencies);
  s.any_dependency = any;
  return s;
}
Dependency on(DependencyKind kind, JobKey target, Seconds delay = {}) {
  return {kind, target, delay};
}
void run(Cluster& c, JobKey key, std::int32_t code = 0) {
  c.start(key, {1});
  c.progress(1, key, AttemptPhase::done, code);
}
bool waits(const Cluster& c, JobKey key) {
  return !c.job(key).waiting_for.empty();
}

TEST(DependencyDelay, CountsFromTheStartOfTheTarget) {
  Cluster c;
  const JobKey target = c.submit(),
               waiting = c.submit(after({on(DependencyKind::after, target, Seconds{60})}));
  c.start(target, {1});
  EXPECT_FALSE(waits(c, waiting));
  EXPECT_EQ(c.job(waiting).not_before, *c.job(target).started + Seconds{60});
  c.plan({c.group(waiting, {2})});
  EXPECT_EQ(c.job(waiting).state, JobState::pending);
  c.tick(Seconds{60});
  c.allocate(waiting, {2});
}

TEST(DependencyDelay, CountsFromAnEarlierStartToo) {
  Cluster c;
  const JobKey target = c.submit();
  c.start(target, {1});
  c.now += Seconds{45};
  const JobKey soon = c.submit(after({on(DependencyKind::after, target, Seconds{60})})),
               at_once = c.submit(after({on(DependencyKind::after, target, Seconds{30})}));
  EXPECT_EQ(c.job(soon).not_before, *c.job(target).started + Seconds{60});
  EXPECT_FALSE(waits(c, soon));
  c.plan({c.group(soon, {2})});
  EXPECT_EQ(c.job(soon).state, JobState::pending);
  c.allocate(at_once, {2});
}

TEST(DependencyDelay, CountsFromACancellationToo) {
  Cluster c;
  const JobKey target = c.submit(),
               waiting = c.submit(after({on(DependencyKind::after, target, Seconds{60})}));
  c.cancel(target);
  EXPECT_FALSE(waits(c, waiting));
  EXPECT_EQ(c.job(waiting).not_before, c.now + Seconds{60});
}

TEST(DependencyAny, OneMetDependencyIsSufficient) {
  Cluster c;
  const JobKey slow = c.submit(), fast = c.submit(),
               waiting = c.submit(after(
                   {on(DependencyKind::after_ok, slow), on(DependencyKind::after_ok, fast)}, true));
  c.start(slow, {2});
  run(c, fast);
  EXPECT_FALSE(waits(c, waiting));
  EXPECT_EQ(c.job(slow).state, JobState::running);
  c.allocate(waiting, {1});
}

TEST(DependencyAny, FailsWhenTheLastFails) {
  Cluster c;
  const JobKey a = c.submit(), b = c.submit(),
               waiting = c.submit(
                   after({on(DependencyKind::after_ok, a), on(DependencyKind::after_ok, b)}, true));
  run(c, a, 1);
  EXPECT_FALSE(c.job(waiting).dependency_failed);
  EXPECT_TRUE(waits(c, waiting));
  run(c, b, 1);
  EXPECT_TRUE(c.job(waiting).dependency_failed);
}

TEST(DependencyAny, IsMetAtSubmissionByEndedJobs) {
  Cluster c;
  const JobKey over = c.submit();
  run(c, over);
  const JobKey bad = c.submit();
  run(c, bad, 1);
  const JobKey alive = c.submit();
  EXPECT_FALSE(waits(
      c, c.submit(after({on(DependencyKind::after_ok, alive), on(DependencyKind::after_ok, over)},
                        true))));
  const JobKey rest = c.submit(
      after({on(DependencyKind::after_ok, bad), on(DependencyKind::after_ok, alive)}, true));
  EXPECT_FALSE(c.job(rest).dependency_failed);
  EXPECT_EQ(c.job(rest).waiting_for.size(), 1u);
  EXPECT_TRUE(c.job(c.submit(after({on(DependencyKind::after_ok, bad)}, true))).dependency_failed);
}

TEST(DependencyOnATask, IsJudgedByThatTaskAlone) {
  Cluster c;
  const JobKey array = c.submit(array_between(0, 2));
  const JobKey ok = c.submit(after({on(DependencyKind::after_ok, task(array, 1))})),
               not_ok = c.submit(after({on(DependencyKind::after_not_ok, task(array, 1))})),
               whole = c.submit(after({on(DependencyKind::after_not_ok, array)}));
  run(c, task(array, 1), 1);
  EXPECT_TRUE(c.job(ok).dependency_failed);
  EXPECT_FALSE(waits(c, not_ok));
  EXPECT_TRUE(waits(c, whole));
  run(c, task(array, 0));
  EXPECT_TRUE(waits(c, whole));
  run(c, task(array, 2));
  EXPECT_FALSE(waits(c, whole)) << "all have ended, one of them badly";
}

TEST(DependencyCorr, EachTaskWaitsForItsPartner) {
  Cluster c;
  const JobKey first = c.submit(array_between(0, 2));
  JobSpec s = array_between(0, 2);
  s.dependencies = {on(DependencyKind::after_corr, first)};
  const JobKey second = c.submit(s);
  c.plan({c.group(task(second, 1), {2})});
  EXPECT_FALSE(c.state().jobs.find(task(second, 1))) << "no partner has ended";
  run(c, task(first, 1));
  ASSERT_TRUE(c.state().jobs.find(task(second, 1)));
  EXPECT_FALSE(waits(c, task(second, 1)));
  c.plan({c.group(task(second, 0), {2})});
  EXPECT_FALSE(c.state().jobs.find(task(second, 0)));
  c.allocate(task(second, 1), {2});
  run(c, task(first, 0), 1);
  EXPECT_TRUE(c.job(task(second, 0)).dependency_failed);
  run(c, task(first, 2));
  EXPECT_FALSE(waits(c, task(second, 2)));
}

TEST(DependencyCorr, TasksThatEndedBeforeSubmissionCount) {
  Cluster c;
  const JobKey first = c.submit(array_between(0, 3));
  run(c, task(first, 2));
  run(c, task(first, 3), 1);
  JobSpec s = array_between(2, 5);
  s.dependencies = {on(DependencyKind::after_corr, first)};
  const JobKey second = c.submit(s);
  EXPECT_FALSE(waits(c, task(second, 2)));
  EXPECT_TRUE(c.job(task(second, 3)).dependency_failed);
  EXPECT_FALSE(waits(c, task(second, 4))) << "has no partner";
  EXPECT_TRUE(c.job(second).array->waiting.empty());
}

TEST(DependencyCorr, CancelledArrayFailsRemainingTasksInOneEvent) {
  Cluster c;
  const JobKey first = c.submit(array_between(0, 999));
  JobSpec s = array_between(0, 999);
  s.dependencies = {on(DependencyKind::after_corr, first)};
  const JobKey second = c.submit(s);
  s.kill_on_invalid_dependency = true;
  const JobKey killed = c.submit(s);
  run(c, task(first, 7));
  c.events.clear();
  c.cancel(first);
  EXPECT_TRUE(c.job(second).dependency_failed);
  EXPECT_EQ(c.happened<TaskSplit>(), 0u);
  EXPECT_FALSE(c.job(task(second, 7)).dependency_failed);
  EXPECT_TRUE(c.job(killed).array->waiting.empty());
  EXPECT_EQ(c.job(task(killed, 7)).state, JobState::pending) << "its own partner was fine";
}

TEST(DependencyCorr, WithoutTwoArraysIsAfterOk) {
  Cluster c;
  const JobKey plain = c.submit();
  JobSpec s = array_between(0, 2);
  s.dependencies = {on(DependencyKind::after_corr, plain)};
  const JobKey array = c.submit(s),
               single = c.submit(after({on(DependencyKind::after_corr, plain)})),
               unknown = c.submit(after({on(DependencyKind::after_corr, {JobId{9999}, {}})}));
  EXPECT_TRUE(waits(c, array) && waits(c, single));
  EXPECT_FALSE(waits(c, unknown));
  run(c, plain);
  EXPECT_FALSE(waits(c, array) || waits(c, single));
}

JobSpec singleton(const std::string& name, UserId uid = kAlice) {
  JobSpec s = Cluster::spec(uid);
  s.name = name;
  s.dependencies = {{DependencyKind::singleton, {}, {}}};
  return s;
}

TEST(Singleton, RunsOneAtATimeInOrderOfSubmission) {
  Cluster c;
  JobSpec plain = Cluster::spec();
  plain.name = "a";
  const JobKey first = c.submit(plain), second = c.submit(singleton("a")),
               third = c.submit(singleton("a")), other_name = c.submit(singleton("b")),
               other_user = c.submit(singleton("a", kBob));
  EXPECT_FALSE(waits(c, other_name) || waits(c, other_user));
  EXPECT_TRUE(waits(c, second) && waits(c, third));
  c.plan({c.group(second, {2})});
  EXPECT_EQ(c.job(second).state, JobState::pending);
  run(c, first, 1);
  EXPECT_FALSE(waits(c, second)) << "however the one before ended";
  EXPECT_TRUE(waits(c, third));
  c.cancel(second);
  EXPECT_FALSE(waits(c, third));
}

TEST(Singleton, CancelledJobInTheMiddleReleasesNoLaterJob) {
  Cluster c;
  const JobKey first = c.submit(singleton("a")), second = c.submit(singleton("a")),
               third = c.submit(singleton("a"));
  c.cancel(second);
  EXPECT_TRUE(waits(c, third)) << "the first has not ended";
  run(c, first);
  EXPECT_FALSE(waits(c, third));
}

// Regression: each repetition was stored, and made an event when the target ended.
TEST(DependencyRepeated, CountsOnce) {
  Cluster c;
  const JobKey target = c.submit(), other = c.submit();
  std::vector<Dependency> many(1000, on(DependencyKind::after_any, target));
  many[500] = on(DependencyKind::after_any, other);
  many[501] = on(DependencyKind::singleton, {});
  many[502] = on(DependencyKind::singleton, {});
  JobSpec s = after(many);
  s.name = "alone";
  const JobKey waiting = c.submit(s);
  EXPECT_EQ(c.job(waiting).waiting_for, (std::vector{on(DependencyKind::after_any, target),
                                                     on(DependencyKind::after_any, other)}));
  const std::size_t met = c.happened<DependencyMet>();
  run(c, target);
  EXPECT_EQ(c.happened<DependencyMet>(), met + 1);
  EXPECT_EQ(c.job(waiting).waiting_for, (std::vector{on(DependencyKind::after_any, other)}));
}

TEST(DependencyRepeated, TaskNamedByItsJobIdCountsOnceToo) {
  Cluster c;
  const JobKey array = c.submit(array_between(0, 2));
  const JobKey own_number{JobId{array.job.value() + 2}, {}};
  const JobKey waiting = c.submit(after(
      {on(DependencyKind::after_any, task(array, 1)), on(DependencyKind::after_any, own_number)}));
  EXPECT_EQ(c.job(waiting).waiting_for,
            (std::vector{on(DependencyKind::after_any, task(array, 1))}));
}

TEST(DependencyRepeated, LongerDelayCountsUnlessAnyIsSufficient) {
  Cluster c;
  const JobKey target = c.submit();
  const std::vector<Dependency> two = {on(DependencyKind::after, target, Seconds{60}),
                                       on(DependencyKind::after, target, Seconds{90})};
  const JobKey both = c.submit(after(two)), any = c.submit(after(two, true));
  c.start(target, {1});
  EXPECT_EQ(c.job(both).not_before, *c.job(target).started + Seconds{90});
  EXPECT_EQ(c.job(any).not_before, *c.job(target).started + Seconds{60});
}

TEST(DependencyRepeated, IsRemovedByAnUpdateToo) {
  Cluster c;
  const JobKey target = c.submit(), waiting = c.submit();
  JobSpec values;
  values.dependencies.edit().assign(1000, on(DependencyKind::after_any, target));
  UpdateJob update;
  update.jobs = Cluster::named(waiting);
  update.fields = {"dependencies"};
  update.values = std::make_shared<const JobSpec>(values);
  EXPECT_FALSE(c.user(kAlice, update).failed);
  EXPECT_EQ(c.job(waiting).waiting_for.size(), 1u);
  values.dependencies.edit().resize(1001, on(DependencyKind::after_any, target));
  update.values = std::make_shared<const JobSpec>(values);
  EXPECT_EQ(c.user(kAlice, update).error.code, ErrorCode::invalid_argument);
}

TEST(DependencyRepeated, DependenciesPerUpdateAreBounded) {
  Cluster c;
  const JobKey array = c.submit(array_between(0, 999));
  Cancel cancel;
  UpdateJob update;
  JobSpec values;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    cancel.jobs.keys.push_back(task(array, i));
    values.dependencies.push_back(on(DependencyKind::after_ok, task(array, i)));
  }
  ASSERT_FALSE(c.user(kAlice, cancel).failed);
  for (int i = 0; i < 101; ++i) update.jobs.keys.push_back(c.submit());
  update.fields = {"dependencies"};
  update.values = std::make_shared<const JobSpec>(values);
  const Reply reply = c.user(kAlice, update);
  EXPECT_EQ(reply.error.code, ErrorCode::invalid_argument);
  EXPECT_NE(reply.error.message.find("at most 100000 of them in all jobs"), std::string::npos)
      << reply.error.message;
  EXPECT_FALSE(waits(c, update.jobs.keys.front()));
}

TEST(Singleton, JobsOfOneRequestAreOrderedToo) {
  Cluster c;
  SubmitMany many;
  for (const char* name : {"a", "a", "b"})
    many.specs.push_back(std::make_shared<const JobSpec>(singleton(name)));
  const Reply reply = c.user(kAlice, many);
  ASSERT_EQ(reply.jobs.size(), 3u) << reply.error.message;
  EXPECT_FALSE(waits(c, reply.jobs[0]));
  EXPECT_TRUE(waits(c, reply.jobs[1]));
  EXPECT_FALSE(waits(c, reply.jobs[2]));
  run(c, reply.jobs[0]);
  EXPECT_FALSE(waits(c, reply.jobs[1]));
}

TEST(Singleton, ArrayCountsUntilItsLastTaskEnds) {
  Cluster c;
  JobSpec s = array_between(0, 1);
  s.name = "a";
  const JobKey array = c.submit(s), next = c.submit(singleton("a"));
  run(c, task(array, 0));
  EXPECT_TRUE(waits(c, next));
  run(c, task(array, 1));
  EXPECT_FALSE(waits(c, next));
}

// Random histories of singleton jobs with few names: two jobs of one name never run at once or out of order.
TEST(Singleton, HoldsInRandomHistories) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    Cluster c;
    std::vector<JobKey> jobs;
    const auto pick = [&]() { return jobs[random() % jobs.size()]; };
    for (int step = 0; step < 120; ++step) {
      const auto what = random() % 10;
      if (jobs.empty() || what < 3) {
        jobs.push_back(c.submit(singleton(std::string(1, static_cast<char>('a' + random() % 3)))));
      } else if (what < 6) {
        const JobKey key = pick();
        if (c.job(key).state == JobState::pending)
          c.plan({c.group(key, {1 + static_cast<int>(random() % 4)})});
      } else if (what < 9) {
        const JobKey key = pick();
        if (c.job(key).state == JobState::configuring) {
          const int node = static_cast<int>(c.job(key).allocation->nodes[0].node.value());
          c.progress(node, key, AttemptPhase::ready);
          c.progress(node, key, AttemptPhase::running);
          c.progress(node, key, AttemptPhase::done, static_cast<std::int32_t>(random() % 2));
        }
      } else {
        c.cancel(pick());
      }
      for (const JobKey& key : jobs) {
        const Job& job = c.job(key);
        if (is_terminal(job.state) || (job.state == JobState::pending && waits(c, key))) continue;
        for (const JobKey& earlier : jobs)
          if (earlier < key && c.job(earlier).spec->name == job.spec->name) {
            ASSERT_TRUE(is_terminal(c.job(earlier).state)) << "seed " << seed << " step " << step;
          }
      }
    }
    for (int round = 0; round < 200; ++round)
      for (const JobKey& key : jobs) {
        if (c.job(key).state == JobState::pending && !waits(c, key)) c.allocate(key, {1});
        if (c.job(key).state == JobState::configuring) {
          const int node = static_cast<int>(c.job(key).allocation->nodes[0].node.value());
          c.progress(node, key, AttemptPhase::ready);
          c.progress(node, key, AttemptPhase::running);
          c.progress(node, key, AttemptPhase::done, 0);
        }
        if (c.job(key).state == JobState::completing)  // cancelled while it was launched
          for (const NodeShare& share : NodeShares(c.job(key).allocation->nodes))
            c.progress(static_cast<int>(share.node.value()), key, AttemptPhase::done, 0);
      }
    for (const JobKey& key : jobs)
      EXPECT_TRUE(is_terminal(c.job(key).state)) << "stuck, seed " << seed;
  }
}

// Regression: all jobs that wait for one target were in one vector, which each change copied.
TEST(Dependency, EachWaitingJobHasItsEntry) {
  Cluster c;
  const JobKey target = c.submit(), other = c.submit();
  std::vector<JobKey> waiting;
  for (int i = 0; i < 5; ++i)
    waiting.push_back(c.submit(after({on(DependencyKind::after_any, target)})));
  const JobKey both = c.submit(
      after({on(DependencyKind::after_any, target), on(DependencyKind::after_any, other)}));
  EXPECT_EQ(c.state().dependents.size(), 7u);
  EXPECT_TRUE(c.state().dependents.find({other, both}));
  EXPECT_TRUE(has_dependents(c.state(), target.job));
  EXPECT_FALSE(has_dependents(c.state(), both.job));
  c.cancel(waiting[2]);
  EXPECT_EQ(c.state().dependents.size(), 6u);
  run(c, target);
  for (const JobKey& key : {waiting[0], waiting[1], waiting[3], waiting[4]})
    EXPECT_FALSE(waits(c, key));
  EXPECT_TRUE(waits(c, both));
  EXPECT_EQ(c.state().dependents.size(), 1u);
  EXPECT_FALSE(has_dependents(c.state(), target.job));
  EXPECT_TRUE(has_dependents(c.state(), other.job));
}

// Regression: each dependency started a search; ten thousand behind a long chain took minutes of engine time.
TEST(Dependency, CycleIsFoundInOneSearchAndTheClosingJobIsNamed) {
  Cluster c;
  const JobKey first = c.submit();
  JobKey last = first;
  for (int i = 0; i < 3; ++i) last = c.submit(after({on(DependencyKind::after_any, last)}));
  const JobKey apart = c.submit();
  const JobKey beside = c.submit(after({on(DependencyKind::after_any, apart)}));
  EXPECT_EQ(first_waiting_for(c.state(), {apart, beside, last}, first), last);
  EXPECT_EQ(first_waiting_for(c.state(), {last, first}, first), last);
  EXPECT_EQ(first_waiting_for(c.state(), {first, last}, first), first) << "it is itself";
  EXPECT_EQ(first_waiting_for(c.state(), {apart, beside}, first), std::nullopt);
  EXPECT_EQ(first_waiting_for(c.state(), {}, first), std::nullopt);

  // Layers in which each job waits for all jobs of the previous layer.
  std::vector<JobKey> layer{apart};
  for (int depth = 0; depth < 12; ++depth) {
    std::vector<Dependency> on_layer;
    for (const JobKey& key : layer) on_layer.push_back(on(DependencyKind::after_any, key));
    std::vector<JobKey> next;
    for (int i = 0; i < 8; ++i) next.push_back(c.submit(after(on_layer)));
    layer = std::move(next);
  }
  EXPECT_EQ(first_waiting_for(c.state(), layer, first), std::nullopt);
  EXPECT_EQ(first_waiting_for(c.state(), layer, apart), layer.front());
}

TEST(Dependency, TargetIsKeptUntilNoJobWaitsForIt) {
  Cluster c;
  const JobKey target = c.submit(),
               waiting = c.submit(after({on(DependencyKind::after_ok, target)}));
  run(c, target);
  c.tick(Seconds{301});
  c.tick(Seconds{301});
  EXPECT_FALSE(c.state().jobs.find(target)) << "no job waits for it any longer";
  EXPECT_FALSE(waits(c, waiting));
  EXPECT_TRUE(c.try_submit(after({on(DependencyKind::after_ok, target)})).failed);
  EXPECT_FALSE(c.try_submit(after({on(DependencyKind::after_any, target)})).failed);
}

}  // namespace
}  // namespace ares::core
