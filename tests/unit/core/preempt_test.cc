// Tests: preempt_mode, start_checks
// Preemption in the engine: which claims of a plan it accepts, the effect on preemptor and victim, and what outlives a restart.
#include <gmock/gmock.h>

#include "core/cluster/preemptible.h"
#include "core/job/effects/effects.h"
#include "core/job/gang.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PreemptTest : public testing::Test {
 protected:
  PreemptTest() {
    ApplyConfig config;
    config.hash = 8;
    Partition main = *c.state().partitions.find("main");
    main.preempt_mode = PreemptMode::requeue;
    Partition high = main;
    high.name = "high";
    high.is_default = false;
    high.tier = 2;
    high.preempt_mode = PreemptMode::off;
    config.partitions = {main, high};
    for (int i = 1; i <= 4; ++i)
      config.nodes.emplace_back("n" + std::to_string(i), Cluster::machine());
    c.run({config});
  }

  void mode(PreemptMode wanted) {
    UpdatePartition update;
    update.names = {"main"};
    update.fields = {"preempt_mode"};
    update.values.preempt_mode = wanted;
    ASSERT_FALSE(c.user(kRoot, update).failed);
  }
  // A job with four CPUs on that node that has run for two minutes.
  JobKey low(int node, bool requeue = true) {
    JobSpec spec = Cluster::spec(kBob);
    spec.requeue = requeue;
    const JobKey key = c.submit(spec);
    c.plan({c.group(key, {node}, 4)});
    c.progress(node, key, AttemptPhase::ready);
    c.progress(node, key, AttemptPhase::running);
    EXPECT_EQ(c.job(key).state, JobState::running);
    c.tick(Seconds{120});
    return key;
  }
  JobKey high(JobSpec spec = Cluster::spec()) {
    spec.partitions = {"high"};
    return c.submit(spec);
  }
  AttemptKey attempt(JobKey key) { return {key, c.job(key).attempt}; }
  PlanGroup eviction(JobKey key, std::vector<JobKey> victims, std::vector<int> nodes,
                     std::uint32_t cpus = 4) {
    PlanGroup group = c.group(key, std::move(nodes), cpus);
    ProposedClaim wanted{key, {}};
    wanted.claim.partition = "high";
    wanted.claim.time_limit = Seconds{3600};
    wanted.claim.nodes = group.starts.front().nodes;
    for (const JobKey& victim : victims) wanted.claim.victims.push_back(attempt(victim));
    group.starts.clear();
    group.claims = {std::move(wanted)};
    return group;
  }
  bool taken(const PlanGroup& group) { return c.plan({group}).text == "1 of 1 groups taken"; }

  Cluster c;
};

TEST_F(PreemptTest, VictimIsRequeuedAndRunsAgain) {
  const JobKey victim = low(1), key = high();
  c.forget_sent();
  ASSERT_TRUE(taken(eviction(key, {victim}, {1})));
  EXPECT_EQ(c.job(victim).state, JobState::completing);
  ASSERT_TRUE(c.last_sent<Kill>(1));
  EXPECT_EQ(c.last_sent<Kill>(1)->grace, Seconds{30});
  EXPECT_FALSE(c.last_sent<Kill>(1)->immediately);
  const Job& waits = c.job(key);
  ASSERT_TRUE(waits.preemption_claim);
  EXPECT_THAT(waits.preemption_claim->victims, ElementsAre(attempt(victim)));
  EXPECT_EQ(waits.preemption_claim->ready, c.now + Seconds{30});
  EXPECT_EQ(c.state().evictions.size(), 1u);

  c.progress(1, victim, AttemptPhase::done, 0);
  const Job& back = c.job(victim);
  EXPECT_EQ(back.state, JobState::pending);
  EXPECT_EQ(back.restarts, 1u);
  ASSERT_TRUE(back.preempted);
  EXPECT_EQ(back.preempted->by, key);
  ASSERT_TRUE(c.row(victim, 1));
  EXPECT_EQ(c.row(victim, 1)->state, JobState::preempted);
  EXPECT_EQ(c.row(victim, 1)->reason, Reason::preempted);
  EXPECT_TRUE(c.row(victim, 1)->superseded);

  PlanGroup start = c.group(key, {1}, 4);
  start.starts.front().partition = "high";
  ASSERT_TRUE(taken(start));
  EXPECT_FALSE(c.job(key).preemption_claim);
  c.start(victim, {2});
  EXPECT_FALSE(c.job(victim).preempted) << "it runs again";
}

TEST_F(PreemptTest, VictimIsCancelledByModeOrIfItMayNotRunAgain) {
  const JobKey once = low(1, false), key = high();
  ASSERT_TRUE(taken(eviction(key, {once}, {1})));
  c.progress(1, once, AttemptPhase::done, 143);
  EXPECT_EQ(c.job(once).state, JobState::preempted);
  EXPECT_EQ(c.job(once).reason, Reason::preempted);
  ASSERT_TRUE(c.row(once, 1));
  EXPECT_EQ(c.row(once, 1)->state, JobState::preempted);

  const JobKey other = low(2), second = high();
  mode(PreemptMode::cancel);
  ASSERT_TRUE(taken(eviction(second, {other}, {2})));
  c.progress(2, other, AttemptPhase::done, 0);
  EXPECT_EQ(c.job(other).state, JobState::preempted);
}

TEST_F(PreemptTest, InvalidClaimsAreRefused) {
  const JobKey victim = low(1), key = high();
  EXPECT_FALSE(taken(eviction(key, {}, {1}))) << "no victims";
  EXPECT_FALSE(taken(eviction(key, {victim}, {1}, 5))) << "more than the node has";
  EXPECT_FALSE(taken(eviction(key, {victim}, {1, 1}))) << "a node twice";
  const JobKey equal = c.submit();
  PlanGroup same = eviction(equal, {victim}, {1});
  same.claims.front().claim.partition = "main";
  EXPECT_FALSE(taken(same)) << "of its own tier";

  const JobKey beside = low(2);
  EXPECT_FALSE(taken(eviction(key, {victim}, {2}))) << "the place of another";
  mode(PreemptMode::off);
  EXPECT_FALSE(taken(eviction(key, {victim}, {1}))) << "its partition does not allow it";
  mode(PreemptMode::requeue);

  c.user(kAlice, HoldJobs{Cluster::named(key)});
  EXPECT_FALSE(taken(eviction(key, {victim}, {1}))) << "held";
  c.user(kAlice, ReleaseJobs{Cluster::named(key)});
  ASSERT_TRUE(taken(eviction(key, {victim}, {1})));
  EXPECT_FALSE(taken(eviction(key, {beside}, {2}))) << "others end for it already";
  EXPECT_EQ(c.job(beside).state, JobState::running);
  const JobKey rival = high();
  EXPECT_FALSE(taken(eviction(rival, {beside}, {1}))) << "kept for the other";
  EXPECT_TRUE(taken(eviction(rival, {beside}, {2})));
}

TEST_F(PreemptTest, MinimumRunTimeAndRateLimitAreChecked) {
  const JobKey young = c.submit(Cluster::spec(kBob)), key = high();
  c.start(young, {3});
  EXPECT_FALSE(taken(eviction(key, {young}, {3})));
  c.tick(Seconds{60});
  EXPECT_TRUE(taken(eviction(key, {young}, {3})));

  Policy rules = *c.policy;
  rules.preemption.per_hour = 1;
  Reconfigure again{{}, std::make_shared<const Policy>(rules)};
  again.config.hash = 8;
  again.config.partitions = {*c.state().partitions.find("main"),
                             *c.state().partitions.find("high")};
  for (int i = 1; i <= 4; ++i)
    again.config.nodes.emplace_back("n" + std::to_string(i), Cluster::machine());
  ASSERT_FALSE(c.user(kRoot, again).failed);
  const JobKey victim = low(1), second = high();
  EXPECT_FALSE(taken(eviction(second, {victim}, {1}))) << "one an hour";
  JobSpec of_bob = Cluster::spec(kBob);
  EXPECT_TRUE(taken(eviction(high(of_bob), {victim}, {1}))) << "another user's";
}

TEST_F(PreemptTest, PreemptedJobMayNotPreempt) {
  const JobKey victim = low(1), key = high();
  ASSERT_TRUE(taken(eviction(key, {victim}, {1})));
  c.progress(1, victim, AttemptPhase::done, 0);
  EXPECT_FALSE(may_preempt(c.job(victim), c.now));
}

TEST_F(PreemptTest, CancellationPrecedesRequeueAndHoldEndsTheClaim) {
  const JobKey victim = low(1), key = high();
  ASSERT_TRUE(taken(eviction(key, {victim}, {1})));
  EXPECT_FALSE(c.cancel(victim, kBob).failed);
  c.progress(1, victim, AttemptPhase::done, 143);
  EXPECT_EQ(c.job(victim).state, JobState::cancelled);
  c.user(kAlice, HoldJobs{Cluster::named(key)});
  EXPECT_FALSE(c.job(key).preemption_claim);
}

TEST_F(PreemptTest, KillWithGraceIsRepeatedAfterARestart) {
  const JobKey victim = low(1), key = high();
  ASSERT_TRUE(taken(eviction(key, {victim}, {1})));
  const Effects again =
      reconcile(*c.policy, c.state(), c.id_of(1), {c.report(victim, AttemptPhase::running)});
  ASSERT_EQ(again.size(), 1u);
  ASSERT_TRUE(std::holds_alternative<Kill>(again.front().body));
  EXPECT_EQ(std::get<Kill>(again.front().body).grace, Seconds{30});
}

// One group with the claims of several jobs, each on the node of its victim.
TEST_F(PreemptTest, ClaimsOfAGangAreTakenTogetherOrNotAtAll) {
  const JobKey a = low(1), b = low(2);
  JobSpec spec = Cluster::spec();
  spec.gang = GangRequest{"train", 2, 0, std::nullopt};
  const JobKey first = high(spec), second = high(spec);
  const auto claims_of = [&](std::vector<JobKey> victims) {
    PlanGroup both = eviction(first, victims, {1}), other = eviction(second, victims, {2});
    both.jobs.push_back(other.jobs.front());
    both.claims.push_back(other.claims.front());
    return both;
  };
  EXPECT_FALSE(taken(eviction(first, {a}, {1}))) << "a member alone";
  EXPECT_FALSE(taken(claims_of({a}))) << "no room for the second";
  PlanGroup uneven = claims_of({a, b});
  uneven.claims.back().claim.victims = {attempt(b)};
  EXPECT_FALSE(taken(uneven)) << "they name different victims";
  EXPECT_EQ(c.job(a).state, JobState::running);
  EXPECT_FALSE(c.job(first).preemption_claim);
  ASSERT_TRUE(taken(claims_of({a, b})));
  for (const JobKey& key : {first, second}) {
    ASSERT_TRUE(c.job(key).preemption_claim);
    EXPECT_EQ(c.job(key).preemption_claim->victims.size(), 2u);
  }
  EXPECT_EQ(c.job(a).ending->preempted->by, first);
  EXPECT_EQ(c.job(b).ending->preempted->by, second) << "the job that gets its node";
  EXPECT_EQ(c.state().evictions.size(), 2u);
  EXPECT_EQ(c.happened<EndingBegan>(), 2u);
}

// The array's record no longer waits once all its tasks have records of their own.
TEST_F(PreemptTest, LostMembersAreCountedWhenAllTasksOfTheGangHaveClaims) {
  std::vector<JobKey> victims;
  for (int node = 1; node <= 3; ++node) victims.push_back(low(node));
  JobSpec spec = array_of(3);
  spec.gang = GangRequest{"train", 4, 2, std::nullopt};
  const JobKey array = high(spec);
  JobSpec alone = Cluster::spec();
  alone.gang = spec.gang;
  c.cancel(high(alone));
  ASSERT_EQ(c.job(array).gang_lost, 1u);
  PlanGroup all;
  for (std::uint32_t i = 0; i < 3; ++i) {
    PlanGroup one = eviction(array, victims, {static_cast<int>(i) + 1});
    one.claims.front().key = {array.job, TaskIndex{i}};
    if (all.jobs.empty()) all.jobs = one.jobs;
    all.claims.push_back(one.claims.front());
  }
  ASSERT_TRUE(taken(all));
  EXPECT_EQ(gang_progress_text(gang_of(c.state(), c.job(task(array, 0)))),
            "3 of 3 members of gang train are here (1 lost)");
}

TEST_F(PreemptTest, RunningMembersOfAGangAreNotPreemptedAlone) {
  JobSpec spec = Cluster::spec(kBob);
  spec.gang = GangRequest{"low", 2, 0, std::nullopt};
  const JobKey a = c.submit(spec), b = c.submit(spec);
  PlanGroup both = c.group(a, {1}, 4), other = c.group(b, {2}, 4);
  both.jobs.push_back(other.jobs.front());
  both.starts.push_back(other.starts.front());
  ASSERT_TRUE(taken(both));
  for (int n = 1; n <= 2; ++n) {
    c.progress(n, n == 1 ? a : b, AttemptPhase::ready);
    c.progress(n, n == 1 ? a : b, AttemptPhase::running);
  }
  c.tick(Seconds{120});
  const JobKey key = high();
  EXPECT_FALSE(taken(eviction(key, {a}, {1})));
  EXPECT_EQ(c.job(a).state, JobState::running);
  EXPECT_TRUE(taken(eviction(key, {a, b}, {1})));
  EXPECT_EQ(c.job(b).state, JobState::completing);
}

TEST_F(PreemptTest, ClaimOfAnArrayTaskIsInItsRecord) {
  const JobKey victim = low(1);
  JobSpec spec = array_of(3);
  spec.partitions = {"high"};
  const JobKey array = c.submit(spec);
  PlanGroup group = eviction(array, {victim}, {1});
  group.claims.front().key = task(array, 0);
  ASSERT_TRUE(taken(group));
  EXPECT_TRUE(c.job(task(array, 0)).preemption_claim);
  EXPECT_FALSE(c.job(array).preemption_claim);
}

}  // namespace
}  // namespace ares::core
