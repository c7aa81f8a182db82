// Tests: decide_suspend
// Suspend and resume in the engine: by command and by plan; with node reports, ends and restarts.
#include <gmock/gmock.h>

#include "core/job/effects/effects.h"
#include "core/state/timers.h"
#include "model/job/container_feature.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SuspendTest : public testing::Test {
 protected:
  JobKey running(int node, std::uint32_t cpus = 4, UserId user = kBob) {
    const JobKey key = c.submit(Cluster::spec(user));
    c.plan({c.group(key, {node}, cpus)});
    c.progress(node, key, AttemptPhase::ready);
    c.progress(node, key, AttemptPhase::running);
    EXPECT_EQ(c.job(key).state, JobState::running);
    return key;
  }
  Reply suspend(JobKey key, UserId by = kOperator) {
    return c.user(by, SuspendJobs{Cluster::named(key)});
  }
  Reply resume(std::vector<JobKey> keys, UserId by = kOperator) {
    ResumeJobs command;
    command.jobs.keys = std::move(keys);
    return c.user(by, command);
  }
  const Charge& charge(int node, std::size_t at = 0) { return c.node(node).charges.at(at); }

  Cluster c;
};

TEST_F(SuspendTest, CpusAreReleasedAndOtherResourcesKept) {
  const JobKey key = running(1);
  c.now += Seconds(100);
  c.forget_sent();
  ASSERT_FALSE(suspend(key).failed);
  EXPECT_EQ(c.job(key).state, JobState::suspended);
  EXPECT_EQ(charge(1).cpus, 0u);
  EXPECT_EQ(charge(1).memory, Bytes::mib(100));
  ASSERT_TRUE(c.last_sent<SetSuspended>(1));
  const SetSuspended first = *c.last_sent<SetSuspended>(1);
  EXPECT_TRUE(first.suspended);
  EXPECT_EQ(first.grace, Seconds{2});
  EXPECT_EQ(c.job(key).allocation->suspension->by_user, "admin");

  const JobKey other = running(1);
  const Reply refused = resume({key});
  EXPECT_TRUE(refused.failed);
  EXPECT_THAT(refused.error.message,
              HasSubstr("0 of the 4 CPUs that it needs on node n1 are free; held by job " +
                        std::to_string(other.job.value())));
  c.now += Seconds(50);
  ASSERT_FALSE(suspend(other).failed);
  c.forget_sent();
  ASSERT_FALSE(resume({key}).failed);
  EXPECT_EQ(c.job(key).state, JobState::running);
  EXPECT_EQ(charge(1).cpus, 4u);
  ASSERT_TRUE(c.last_sent<SetSuspended>(1));
  EXPECT_FALSE(c.last_sent<SetSuspended>(1)->suspended);
  EXPECT_LT(first.lsn, c.last_sent<SetSuspended>(1)->lsn) << "the node keeps the newest";
  EXPECT_EQ(c.job(key).allocation->suspended, Duration(Seconds(50)));
  EXPECT_EQ(limit_end(c.job(key)), *c.job(key).started + Seconds(3600) + Seconds(50));
}

// Kubernetes counts the CPUs of a pod whose processes are stopped, and would refuse another pod on them.
TEST_F(SuspendTest, JobInPodsIsNotSuspended) {
  Inventory inventory = Cluster::machine();
  inventory.features.emplace_back(kContainerFeature);
  c.register_node(1, {}, inventory);
  const JobKey key = running(1);
  const Reply refused = suspend(key);
  EXPECT_TRUE(refused.failed);
  EXPECT_THAT(refused.error.message, HasSubstr("requeue it instead"));
  EXPECT_EQ(c.job(key).state, JobState::running);
  EXPECT_EQ(charge(1).cpus, 4u);
}

TEST_F(SuspendTest, OnlyOneOfTwoJobsOnTheSameCpusResumes) {
  const JobKey a = running(1);
  suspend(a);
  const JobKey b = running(1);
  suspend(b);
  const Reply both = resume({a, b});
  EXPECT_TRUE(both.failed);
  EXPECT_THAT(both.jobs, ElementsAre(a));
  EXPECT_EQ(c.job(b).state, JobState::suspended);
}

TEST_F(SuspendTest, OnlyOperatorsSuspendAndOnlyRunningJobs) {
  const JobKey key = running(1, 4, kAlice), waits = c.submit();
  EXPECT_EQ(suspend(key, kAlice).error.code, ErrorCode::permission_denied) << "its own owner";
  EXPECT_EQ(resume({key}, kAlice).error.code, ErrorCode::permission_denied);
  EXPECT_THAT(suspend(waits).error.message, HasSubstr("does not run yet (PENDING)"));
  EXPECT_THAT(resume({key}).error.message, HasSubstr("not suspended (RUNNING)"));
  ASSERT_FALSE(suspend(key).failed);
  const std::size_t before = c.events.size();
  EXPECT_FALSE(suspend(key).failed) << "as asked already";
  EXPECT_EQ(c.happened<Suspended>(), 1u);
  EXPECT_GE(c.events.size(), before);
}

TEST_F(SuspendTest, RepeatedRequestTakesEffectOnce) {
  const JobKey key = running(1);
  ASSERT_FALSE(c.user(kRoot, SuspendJobs{Cluster::named(key)}, "same").failed);
  ASSERT_FALSE(resume({key}).failed);
  EXPECT_FALSE(c.user(kRoot, SuspendJobs{Cluster::named(key)}, "same").failed);
  EXPECT_EQ(c.job(key).state, JobState::running) << "what was asked was done before";
}

TEST_F(SuspendTest, HeartbeatReplyRepeatsTheSuspension) {
  const JobKey key = running(1);
  suspend(key);
  c.forget_sent();
  c.from_node(1, Heartbeat{7, {c.report(key, AttemptPhase::running)}});
  ASSERT_EQ(c.sent<SetSuspended>(1), 1u);
  EXPECT_TRUE(c.last_sent<SetSuspended>(1)->suspended);
  EXPECT_EQ(c.sent<Go>(1), 0u);
  resume({key});
  c.forget_sent();
  c.from_node(1, Heartbeat{8, {c.report(key, AttemptPhase::running)}});
  ASSERT_EQ(c.sent<SetSuspended>(1), 1u);
  EXPECT_FALSE(c.last_sent<SetSuspended>(1)->suspended);
}

TEST_F(SuspendTest, JobMayBeSuspendedBeforeItsNodesReportRunning) {
  const JobKey key = c.submit(Cluster::spec(kBob));
  c.plan({c.group(key, {1}, 4)});
  c.progress(1, key, AttemptPhase::ready);
  suspend(key);
  c.forget_sent();
  c.from_node(1, Heartbeat{7, {c.report(key, AttemptPhase::ready)}});
  EXPECT_EQ(c.sent<Go>(1), 1u);
  EXPECT_EQ(c.sent<SetSuspended>(1), 1u);
  c.progress(1, key, AttemptPhase::running);
  EXPECT_EQ(c.job(key).allocation->nodes[0].phase, SharePhase::running);
  c.tick(Seconds(5000));
  ASSERT_FALSE(resume({key}).failed) << "and no barrier has run out";
  c.tick(Seconds(1));
  EXPECT_EQ(c.job(key).state, JobState::running);
}

TEST_F(SuspendTest, CancelledJobEndsWithoutTakingItsCpusBack) {
  const JobKey key = running(1);
  suspend(key);
  const JobKey other = running(1);
  c.now += Seconds(20);
  ASSERT_FALSE(c.cancel(key, kRoot).failed);
  EXPECT_EQ(c.job(key).state, JobState::completing);
  EXPECT_EQ(c.sent<Kill>(1), 1u);
  EXPECT_EQ(charge(1, 0).cpus, 0u) << "they are another's";
  c.now += Seconds(10);
  c.progress(1, key, AttemptPhase::done, 0);
  EXPECT_EQ(c.job(key).state, JobState::cancelled);
  ASSERT_TRUE(c.row(key, 1));
  EXPECT_EQ(c.row(key, 1)->allocation.suspended, Duration(Seconds(20)));
  EXPECT_FALSE(c.row(key, 1)->allocation.suspension);
  EXPECT_EQ(c.job(other).state, JobState::running);
}

TEST_F(SuspendTest, LossOfTheNodeRequeuesASuspendedJob) {
  const JobKey key = running(1);
  suspend(key);
  c.incarnation[1] = 2;
  c.register_node(1);
  EXPECT_EQ(c.job(key).state, JobState::pending) << "it runs again elsewhere";
  EXPECT_FALSE(c.job(key).allocation);
}

TEST_F(SuspendTest, DeadlineEndsASuspendedJob) {
  JobSpec spec = Cluster::spec(kBob);
  spec.deadline = c.now + Seconds(5000);
  const JobKey key = c.submit(spec);
  c.start(key, {1});
  suspend(key);
  c.tick(Seconds(5001));
  EXPECT_EQ(c.job(key).state, JobState::completing);
  EXPECT_EQ(c.job(key).ending->state, JobState::deadline);
}

class LendingTest : public SuspendTest {
 protected:
  LendingTest() {
    ApplyConfig config;
    config.hash = 8;
    Partition main = *c.state().partitions.find("main");
    main.preempt_mode = PreemptMode::suspend;
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
  JobKey old_one(int node) {
    const JobKey key = running(node);
    c.tick(Seconds{120});
    return key;
  }
  JobKey high() {
    JobSpec spec = Cluster::spec();
    spec.partitions = {"high"};
    return c.submit(spec);
  }
  PlanGroup eviction(JobKey key, JobKey victim, int node) {
    PlanGroup group = c.group(key, {node}, 4);
    ProposedClaim wanted{key, {}};
    wanted.claim.partition = "high";
    wanted.claim.time_limit = Seconds{3600};
    wanted.claim.nodes = group.starts.front().nodes;
    wanted.claim.victims = {{victim, c.job(victim).attempt}};
    group.starts.clear();
    group.claims = {std::move(wanted)};
    return group;
  }
  PlanGroup going_on(JobKey key) {
    PlanGroup group;
    group.jobs.emplace_back(key, c.job(key).version);
    group.resume = AttemptKey{key, c.job(key).attempt};
    for (const NodeShare& share : c.job(key).allocation->nodes)
      group.nodes.emplace_back(share.node, c.state().nodes.find(share.node)->version);
    return group;
  }
  bool taken(const PlanGroup& group) { return c.plan({group}).text == "1 of 1 groups taken"; }
  void start_high(JobKey key, int node) {
    PlanGroup start = c.group(key, {node}, 4);
    start.starts.front().partition = "high";
    ASSERT_TRUE(taken(start));
  }
};

TEST_F(LendingTest, VictimIsSuspendedAndResumedByPlan) {
  const JobKey victim = old_one(1), key = high();
  c.forget_sent();
  ASSERT_TRUE(taken(eviction(key, victim, 1)));
  EXPECT_EQ(c.job(victim).state, JobState::suspended);
  EXPECT_EQ(c.sent<Kill>(1), 0u);
  EXPECT_EQ(c.sent<SetSuspended>(1), 1u);
  EXPECT_EQ(c.job(victim).allocation->suspension->preempted_by, key);
  EXPECT_EQ(c.state().evictions.size(), 1u) << "it counts like any other";
  EXPECT_EQ(c.state().resumable.size(), 1u);
  EXPECT_FALSE(taken(going_on(victim))) << "its CPUs are kept for the other";
  EXPECT_TRUE(resume({victim}).failed) << "likewise";
  start_high(key, 1);
  EXPECT_FALSE(taken(going_on(victim)));
  c.progress(1, key, AttemptPhase::ready);
  c.progress(1, key, AttemptPhase::running);
  c.progress(1, key, AttemptPhase::done, 0);
  ASSERT_TRUE(taken(going_on(victim)));
  EXPECT_EQ(c.job(victim).state, JobState::running);
  EXPECT_EQ(c.state().resumable.size(), 0u);
  EXPECT_EQ(c.job(victim).restarts, 0u);
}

TEST_F(LendingTest, ResumeAndStartOnTheSameCpusDoNotBothSucceed) {
  const JobKey victim = old_one(1), key = high();
  ASSERT_TRUE(taken(eviction(key, victim, 1)));
  ASSERT_FALSE(c.cancel(key).failed);
  const JobKey other = c.submit();
  EXPECT_EQ(c.plan({going_on(victim), c.group(other, {1}, 1)}).text, "1 of 2 groups taken");
  EXPECT_EQ(c.job(victim).state, JobState::running);
  EXPECT_EQ(c.job(other).state, JobState::pending);
}

TEST_F(LendingTest, VictimKeepsItsMemory) {
  const JobKey victim = old_one(1), key = high();
  PlanGroup group = eviction(key, victim, 1);
  group.claims.front().claim.nodes.change(
      0, [&](NodeShare& share) { share.memory = Bytes::mib(3950); });
  EXPECT_FALSE(taken(group)) << "100 of 4000 stay with the victim";
  group.claims.front().claim.nodes.change(
      0, [&](NodeShare& share) { share.memory = Bytes::mib(3900); });
  EXPECT_TRUE(taken(group));
}

TEST_F(LendingTest, SuspensionByAnOperatorPreventsAutomaticResume) {
  const JobKey victim = old_one(1), key = high();
  ASSERT_TRUE(taken(eviction(key, victim, 1)));
  ASSERT_FALSE(suspend(victim).failed);
  EXPECT_EQ(c.state().resumable.size(), 0u);
  ASSERT_FALSE(c.cancel(key).failed);
  EXPECT_FALSE(taken(going_on(victim))) << "not by itself any more";
  EXPECT_FALSE(resume({victim}).failed);
}

TEST_F(LendingTest, VictimResumesWhenTheClaimOfItsPreemptorExpires) {
  const JobKey victim = old_one(1), key = high();
  ASSERT_TRUE(taken(eviction(key, victim, 1)));
  c.tick(Seconds(3600));  // the claim has expired
  EXPECT_TRUE(taken(going_on(victim)));
}

}  // namespace
}  // namespace ares::core
