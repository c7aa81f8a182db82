// Tests: resumer
// Suspended jobs in plan(): the resources that they release and keep, the jobs that they are
// suspended for, and when they resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "core/cluster/resume_conflict.h"
#include "core/sched/pass/plan_text.h"
#include "core/state/indexes.h"
#include "core/state/timers.h"
#include "model/job/container_feature.h"
#include "unit/sched/four_nodes.h"
#include "unit/sched/preemption.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<JobKey> resumed_by(const Plan& plan) {
  std::vector<JobKey> keys;
  for (const PlanGroup& group : plan.groups)
    if (group.resume) keys.push_back(group.resume->job);
  return keys;
}

class Suspending : public testing::Test {
 protected:
  Suspending() : cluster(four_nodes()) { add_tiers(cluster, PreemptMode::suspend); }

  void fill() {
    for (const char* name : {"n1", "n2", "n3", "n4"})
      lows.push_back(run(cluster, {name}, 4, kNow - hours(1), "main", hours(100)));
  }
  // A job of "high" starts in place of one of them.
  JobKey take_a_place() {
    const JobKey key = cluster.submit(high_spec(4));
    const Plan plan = cluster.plan();
    cluster.evict(plan, kNow);
    cluster.take(cluster.plan(), kNow);
    return key;
  }
  JobKey stands_still() const {
    JobKey found;
    cluster.state.resumable.for_each([&](const JobKey& key, Lsn) { found = key; });
    return found;
  }

  TestCluster cluster;
  std::vector<JobKey> lows;
};

TEST_F(Suspending, JobSuspendedByCommandReleasesCpusAndIsNotResumed) {
  fill();
  cluster.suspend(lows[0], kNow);
  const JobKey key = cluster.submit(TestCluster::spec(4));
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ElementsAre("n1"));
  EXPECT_THAT(resumed_by(plan), IsEmpty());
}

TEST_F(Suspending, JobInPodsIsNotAVictim) {
  for (const char* name : {"n1", "n2", "n3"}) {
    Node node = cluster.node(name);
    node.inventory.features.emplace_back(kContainerFeature);
    cluster.put(node);
  }
  fill();
  take_a_place();
  EXPECT_EQ(stands_still(), lows[3]);
  const JobKey second = cluster.submit(high_spec(4));
  EXPECT_FALSE(claim_of(cluster.plan(), second));
}

TEST_F(Suspending, MemoryIsNotReleased) {
  JobSpec large = TestCluster::spec(1);
  large.memory_per_node = Bytes::mib(3950);
  fill();
  cluster.suspend(lows[0], kNow);
  const JobKey key = cluster.submit(large);
  EXPECT_FALSE(start_of(cluster.plan(), key)) << "100 of 4000 are not free";
  large.memory_per_node = Bytes::mib(3900);
  EXPECT_TRUE(start_of(cluster.plan(), cluster.submit(large)));
}

TEST_F(Suspending, VictimReleasesCpusAtOnceAndIsResumedFirst) {
  fill();
  const JobKey high = take_a_place();
  ASSERT_EQ(cluster.state.jobs.find(high)->state, JobState::running) << "in the next pass";
  const JobKey victim = stands_still();
  ASSERT_EQ(cluster.state.jobs.find(victim)->state, JobState::suspended);
  const JobKey equal = cluster.submit(TestCluster::spec(4));
  EXPECT_THAT(resumed_by(cluster.plan()), IsEmpty());
  EXPECT_FALSE(start_of(cluster.plan(), equal));
  cluster.end(high);
  const Plan plan = cluster.plan(kNow + Seconds(1));
  EXPECT_THAT(resumed_by(plan), ElementsAre(victim));
  EXPECT_FALSE(start_of(plan, equal)) << "it comes behind the one that made room";
}

TEST_F(Suspending, HigherTierPrecedesASuspendedJob) {
  fill();
  const JobKey high = take_a_place(), victim = stands_still();
  const JobKey next = cluster.submit(high_spec(4));
  // No other job is suspended for it.
  cluster.policy.preemption.per_hour = 1;
  cluster.end(high);
  const Plan plan = cluster.plan(kNow + Seconds(1));
  EXPECT_TRUE(start_of(plan, next));
  EXPECT_THAT(resumed_by(plan), IsEmpty());
  EXPECT_EQ(cluster.state.jobs.find(victim)->state, JobState::suspended);
}

TEST_F(Suspending, NoJobOfItsTierDelaysIt) {
  fill();
  const JobKey high = take_a_place();  // for an hour
  const JobKey victim = stands_still();
  const Job& still = *cluster.state.jobs.find(victim);
  const NodeId place = still.allocation->nodes[0].node;
  // Two of the four CPUs become free before the other two.
  cluster.end(high);
  JobSpec half = high_spec(2);
  half.required_nodes = {cluster.state.nodes.find(place)->name};
  const JobKey first = cluster.submit(half);
  cluster.take(cluster.plan(), kNow);
  ASSERT_EQ(cluster.state.jobs.find(first)->state, JobState::running);
  JobSpec longer = TestCluster::spec(2), shorter = longer;
  longer.time_limit = hours(2);
  shorter.time_limit = minutes(30);
  const JobKey late = cluster.submit(longer), early = cluster.submit(shorter);
  const Plan plan = cluster.plan();
  EXPECT_THAT(resumed_by(plan), IsEmpty());
  EXPECT_FALSE(start_of(plan, late)) << "it would run on when the victim's turn has come";
  EXPECT_TRUE(start_of(plan, early));
}

TEST_F(Suspending, OnlyCpusAreTakenFromVictims) {
  JobSpec spec = high_spec(1);
  spec.memory_per_node = Bytes::mib(3950);
  fill();
  const JobKey key = cluster.submit(spec);
  EXPECT_THAT(victims_of(cluster.plan(), key), IsEmpty()) << "they would keep 100 of 4000";
  add_tiers(cluster, PreemptMode::requeue);
  EXPECT_EQ(victims_of(cluster.plan(), key).size(), 1u);
}

TEST_F(Suspending, PlanIsStableAfterwards) {
  fill();
  const JobKey high = take_a_place();
  cluster.submit(TestCluster::spec(4));
  const std::string plan = plan_text(cluster.plan());
  EXPECT_THAT(plan, testing::Not(HasSubstr("group")));
  Planner planner;
  for (int pass = 0; pass < 5; ++pass)
    EXPECT_EQ(plan_text(planner.plan(cluster.state, cluster.policy, {}, kNow)), plan);
  cluster.end(high);
  cluster.take(planner.plan(cluster.state, cluster.policy, {}, kNow + Seconds(1)),
               kNow + Seconds(1));
  EXPECT_EQ(cluster.state.resumable.size(), 0u);
  for (int pass = 0; pass < 5; ++pass)
    EXPECT_THAT(plan_text(planner.plan(cluster.state, cluster.policy, {}, kNow + Seconds(2))),
                testing::Not(HasSubstr("group")));
}

TEST_F(Suspending, TimeLimitDoesNotRunWhileSuspended) {
  const JobKey key = run(cluster, {"n1"}, 4, kNow - minutes(10), "main", minutes(30));
  for (const char* name : {"n2", "n3", "n4"}) run(cluster, {name}, 4, kNow, "high", hours(100));
  cluster.suspend(key, kNow);
  cluster.resume(key, kNow + hours(2));
  const JobKey next = cluster.submit(TestCluster::spec(4));
  const Plan plan = cluster.plan(kNow + hours(2));
  ASSERT_TRUE(pending_of(plan, next));
  EXPECT_EQ(pending_of(plan, next)->expected_start, kNow + hours(2) + minutes(20));
}

// Lives with suspended victims, and with jobs that operators suspend and resume. A planner with
// kept state plans the same as a new one, no CPU is allocated twice, and every job that may resume
// does.
TEST(SuspendProperty, LivesStayWithinLimitsAndIncrementalPlansMatch) {
  int suspended = 0, resumed = 0, by_command = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    for (std::uint32_t i = 0, nodes = 1 + dice.upto(3); i < nodes; ++i)
      cluster.add_node("n" + std::to_string(i), 2 + dice.upto(6));
    add_tiers(cluster, PreemptMode::suspend);
    cluster.policy.preemption.per_hour = cluster.policy.preemption.per_day = 0;
    cluster.policy.backfill = {static_cast<BackfillKind>(seed % 3), 1 + dice.upto(2)};
    Planner planner;
    Budget budget;
    budget.details = seed % 2 == 0;
    Time now = kNow;
    for (int step = 0; step < 30; ++step) {
      for (std::uint32_t i = dice.upto(2); i > 0; --i) {
        JobSpec spec = TestCluster::spec(1 + dice.upto(4), 1 + dice.upto(1));
        spec.partitions = {dice.percent(40) ? "high" : "main"};
        spec.uid = UserId(1 + dice.upto(1));
        if (dice.percent(8)) spec.exclusive_user = true;
        if (dice.percent(8)) spec.exclusive = true;
        spec.time_limit = minutes(1 + dice.upto(300));
        cluster.submit(spec);
      }
      const Plan plan = planner.plan(cluster.state, cluster.policy, budget, now);
      ASSERT_EQ(plan_text(plan), plan_text(cluster.plan(now, budget)))
          << "seed " << seed << " step " << step;
      ASSERT_EQ(over_commitment(cluster.state, plan), "") << "seed " << seed << " step " << step;
      for (const PlanGroup& group : plan.groups) {
        if (group.resume) {
          ++resumed;
          ASSERT_FALSE(
              resume_conflict(cluster.state, *cluster.state.jobs.find(group.resume->job), now))
              << "seed " << seed << " step " << step;
        }
        if (!group.claims.empty())
          suspended += static_cast<int>(group.claims.front().claim.victims.size());
      }
      cluster.take(plan, now);
      cluster.evict(plan, now);
      std::vector<JobKey> over, stop, go;
      cluster.state.jobs.for_each([&](const JobKey& key, const Job& job) {
        const auto end = limit_end(job);
        if (job.state == JobState::running && ((end && *end <= now) || dice.percent(8)))
          over.push_back(key);
        else if (job.state == JobState::running && dice.percent(4))
          stop.push_back(key);
        else if (job.state == JobState::suspended && dice.percent(3))
          over.push_back(key);
        else if (job.state == JobState::suspended && !is_resumable(job) && dice.percent(30) &&
                 !resume_conflict(cluster.state, job, now))
          go.push_back(key);
      });
      for (const JobKey& key : over) cluster.end(key);
      for (const JobKey& key : stop) cluster.suspend(key, now);
      for (const JobKey& key : go) {  // one may have the CPUs of another
        if (resume_conflict(cluster.state, *cluster.state.jobs.find(key), now)) continue;
        cluster.resume(key, now);
        ++by_command;
      }
      now += dice.percent(50) ? Duration(Seconds(dice.upto(20))) : Duration(minutes(dice.upto(20)));
    }
  }
  EXPECT_GT(suspended, 150);
  EXPECT_GT(resumed, 60);
  EXPECT_GT(by_command, 30);
}

}  // namespace
}  // namespace ares::core::sched
