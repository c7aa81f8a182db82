// Tests: preemptor
// Preemption in plan(): which jobs are preempted for which, the resources kept by claims, and
// everything that prevents preemption.
#include "core/sched/pass/preempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sched/why/explanation.h"
#include "unit/sched/four_nodes.h"
#include "unit/sched/preemption.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Preemption : public testing::Test {
 protected:
  Preemption() : cluster(four_nodes()) { add_tiers(cluster); }

  void fill(Time started = kNow - hours(1)) {
    for (const char* name : {"n1", "n2", "n3", "n4"})
      lows.push_back(run(cluster, {name}, 4, started, "main", hours(100)));
  }
  PendingInfo pending_info(const JobKey& key, Time now = kNow) {
    const Plan plan = cluster.plan(now);
    const PendingInfo* info = pending_of(plan, key);
    return info ? *info : PendingInfo{};
  }
  std::vector<JobKey> victims(const JobKey& key, Time now = kNow) {
    return victims_of(cluster.plan(now), key);
  }

  TestCluster cluster;
  std::vector<JobKey> lows;
};

TEST_F(Preemption, HigherTierPreemptsTheYoungestOfALowerOne) {
  for (const char* name : {"n1", "n2", "n3"}) run(cluster, {name}, 4, kNow - hours(3));
  const JobKey young = run(cluster, {"n4"}, 4, kNow - hours(1));
  const JobKey key = cluster.submit(high_spec(2));
  const Plan plan = cluster.plan();
  const ProposedClaim* made = claim_of(plan, key);
  ASSERT_TRUE(made);
  EXPECT_THAT(victims_of(plan, key), ElementsAre(young)) << "least work is lost";
  EXPECT_EQ(made->claim.partition, "high");
  EXPECT_EQ(made->claim.ready, kNow + cluster.policy.preemption.grace);
  ASSERT_EQ(made->claim.nodes.size(), 1u);
  EXPECT_EQ(made->claim.nodes[0].cpus, 2u);
  EXPECT_THAT(made->claim.nodes[0].cpu_ids, ElementsAre(0u, 1u));
  EXPECT_FALSE(start_of(plan, key));
  const PendingInfo said = pending_info(key);
  EXPECT_EQ(said.reason, Reason::preempting);
  EXPECT_THAT(said.detail, HasSubstr("1 job that it preempts"));
  EXPECT_EQ(said.expected_start, made->claim.ready);
}

// All began at times that differ; of one only the last minutes are not saved.
TEST_F(Preemption, OnlyWorkSinceTheLastCommittedCheckpointCountsAsLost) {
  const JobKey saved = run(cluster, {"n1"}, 4, kNow - hours(20));
  for (const char* name : {"n2", "n3", "n4"}) run(cluster, {name}, 4, kNow - hours(1));
  Job job = *cluster.state.jobs.find(saved);
  job.checkpoints = {{7, job.attempt, {}, Bytes(1), "/s/7", kNow - minutes(5)}};
  cluster.put(job);
  EXPECT_THAT(victims(cluster.submit(high_spec(2))), ElementsAre(saved));
}

// It has run for ten minutes since, and was suspended for hours.
TEST_F(Preemption, SuspendedTimeSinceTheLastCheckpointIsNotLostWork) {
  const JobKey saved = run(cluster, {"n1"}, 4, kNow - hours(20));
  for (const char* name : {"n2", "n3", "n4"}) run(cluster, {name}, 4, kNow - hours(1));
  Job job = *cluster.state.jobs.find(saved);
  job.checkpoints = {{7, job.attempt, {}, Bytes(1), "/s/7", kNow - hours(9)}};
  job.checkpoints[0].suspended = hours(1);
  job.allocation->suspended = hours(10) - minutes(10);
  cluster.put(job);
  EXPECT_THAT(victims(cluster.submit(high_spec(2))), ElementsAre(saved));
}

TEST_F(Preemption, CheckpointsOfEarlierAttemptsDoNotCount) {
  const JobKey old = run(cluster, {"n1"}, 4, kNow - hours(20));
  for (const char* name : {"n2", "n3"}) run(cluster, {name}, 4, kNow - hours(3));
  const JobKey young = run(cluster, {"n4"}, 4, kNow - hours(1));
  Job job = *cluster.state.jobs.find(old);
  job.checkpoints = {{7, AttemptNo(job.attempt.value() + 1), {}, Bytes(1), "/s/7", kNow}};
  cluster.put(job);
  EXPECT_THAT(victims(cluster.submit(high_spec(2))), ElementsAre(young));
}

TEST_F(Preemption, IsOffUnlessConfiguredForThePartition) {
  fill();
  add_tiers(cluster, PreemptMode::off);
  EXPECT_THAT(victims(cluster.submit(high_spec(2))), IsEmpty());
}

TEST_F(Preemption, JobsOfTheSameTierAreNotPreempted) {
  fill();
  JobSpec same = high_spec(2);
  same.partitions = {"main"};
  EXPECT_THAT(victims(cluster.submit(same)), IsEmpty());
}

TEST_F(Preemption, NoJobIsPreemptedIfThatDoesNotHelp) {
  fill();
  EXPECT_THAT(victims(cluster.submit(high_spec(5))), IsEmpty()) << "no node has five";
  JobSpec alone = high_spec(16, 4);
  const JobKey key = cluster.submit(alone);
  EXPECT_EQ(victims(key).size(), 4u);
  for (const JobKey& low : lows) cluster.end(low);
  run(cluster, {"n1"}, 1, kNow - hours(1), "high");
  for (const char* name : {"n1", "n2"}) run(cluster, {name}, 3);
  EXPECT_THAT(victims(key), IsEmpty()) << "a job of its own tier stays";
}

TEST_F(Preemption, OnlyAsManyVictimsAsNeeded) {
  for (const char* name : {"n1", "n2", "n3", "n4"})
    for (int i = 0; i < 4; ++i) run(cluster, {name}, 1, kNow - minutes(10 + i));
  EXPECT_EQ(victims(cluster.submit(high_spec(3))).size(), 3u);
}

TEST_F(Preemption, TwoVictimsAreCombinedAndAThirdIsSpared) {
  const JobKey a = run(cluster, {"n1"}, 2), b = run(cluster, {"n1"}, 2);
  for (const char* name : {"n2", "n3", "n4"}) run(cluster, {name}, 4, kNow - hours(1), "high");
  const JobKey key = cluster.submit(high_spec(4));
  EXPECT_THAT(victims(key), ElementsAre(a, b));
  EXPECT_EQ(victims(cluster.submit(high_spec(2))).size(), 0u) << "both go for the first";
}

TEST_F(Preemption, JobOnOneNodeIsPreferredToJobOnMany) {
  run(cluster, {"n1", "n2", "n3"}, 4, kNow - minutes(30));
  const JobKey small = run(cluster, {"n4"}, 4, kNow - minutes(30));
  EXPECT_THAT(victims(cluster.submit(high_spec(1))), ElementsAre(small));
}

TEST_F(Preemption, VictimsHaveRunForTheMinimumTime) {
  fill(kNow - Seconds(59));
  const JobKey key = cluster.submit(high_spec(2));
  const Plan plan = cluster.plan();
  EXPECT_FALSE(claim_of(plan, key));
  EXPECT_EQ(plan.wake, kNow + Seconds(1)) << "then one is old enough";
  EXPECT_EQ(victims(key, kNow + Seconds(1)).size(), 1u);
}

TEST_F(Preemption, FollowsQosWithinAPartition) {
  Fairness rules;
  rules.qos = {{"urgent", 50}, {"normal", 30}, {"better", 49}};
  cluster.policy.fairness.value = std::make_shared<const Fairness>(rules);
  fill();
  for (const JobKey& low : lows) {
    Job job = *cluster.state.jobs.find(low);
    JobSpec spec = *job.spec;
    spec.qos = "normal";
    job.spec = std::make_shared<const JobSpec>(spec);
    cluster.put(job);
  }
  JobSpec spec = high_spec(2);
  spec.partitions = {"main"};
  spec.qos = "urgent";
  const JobKey urgent = cluster.submit(spec);
  spec.qos = "better";
  const JobKey better = cluster.submit(spec);
  EXPECT_THAT(victims(urgent), IsEmpty()) << "not asked for";
  cluster.policy.preemption.by_qos = true;
  EXPECT_EQ(victims(urgent).size(), 1u);
  EXPECT_THAT(victims(better), IsEmpty()) << "19 is below the gap of 20";
}

TEST_F(Preemption, RateLimitsCountPreemptionsOfAUser) {
  fill();
  cluster.policy.preemption.per_hour = 2;
  const JobKey key = cluster.submit(high_spec(12, 3));
  EXPECT_THAT(victims(key), IsEmpty()) << "three in an hour are one too many";
  cluster.policy.preemption.per_hour = 3;
  EXPECT_EQ(victims(key).size(), 3u);
  const AttemptKey other{{JobId(900), {}}, AttemptNo(1)};
  cluster.state.evictions.set({kNow - minutes(50), other}, UserId(77));
  EXPECT_EQ(victims(key).size(), 3u) << "that was another user's";
  cluster.state.evictions.set({kNow - minutes(50), other}, UserId(0));
  const Plan plan = cluster.plan();
  EXPECT_FALSE(claim_of(plan, key));
  EXPECT_EQ(plan.wake, kNow + minutes(10));
  EXPECT_EQ(victims(key, kNow + minutes(10)).size(), 3u);
  cluster.policy.preemption.per_day = 3;
  EXPECT_THAT(victims(key, kNow + minutes(10)), IsEmpty());
  EXPECT_EQ(victims(key, kNow + hours(24)).size(), 3u);
}

TEST_F(Preemption, ExplanationReportsARateLimit) {
  fill();
  cluster.policy.preemption.per_hour = 1;
  cluster.state.evictions.set({kNow - minutes(50), {{JobId(900), {}}, AttemptNo(1)}}, UserId(0));
  const JobKey key = cluster.submit(high_spec(2));
  const Plan plan = cluster.plan();
  const JobExplanation why = explain_job(
      cluster.state, cluster.policy, *cluster.state.jobs.find(key), pending_of(plan, key), kNow);
  ASSERT_FALSE(why.causes.empty());
  EXPECT_THAT(why.causes.back().text, HasSubstr("1 in an hour, 50 in a day"));
  EXPECT_EQ(why.causes.back().until, kNow + minutes(10));
  EXPECT_TRUE(why.start) << "when a running job ends without preemption";
}

TEST_F(Preemption, ExplanationNamesTheVictims) {
  fill();
  const JobKey key = cluster.submit(high_spec(2));
  cluster.evict(cluster.plan(), kNow);
  const Plan plan = cluster.plan();
  const JobExplanation why = explain_job(
      cluster.state, cluster.policy, *cluster.state.jobs.find(key), pending_of(plan, key), kNow);
  ASSERT_FALSE(why.causes.empty());
  EXPECT_EQ(why.causes.front().reason, Reason::preempting);
  EXPECT_EQ(why.start, kNow + Seconds(30));
  EXPECT_FALSE(why.starts_now);
}

TEST_F(Preemption, PreemptedJobPreemptsNoJobBeforeItRunsAgain) {
  fill();
  Job job = cluster.job(high_spec(2));
  job.preempted = Preempted{{JobId(99), {}}, kNow - minutes(1), Seconds(30)};
  const JobKey key = job.key;
  cluster.put(job);
  EXPECT_THAT(victims(key), IsEmpty());
}

TEST_F(Preemption, JobThatStartsSoonPreemptsNoJob) {
  fill();
  cluster.end(lows[3]);
  lows[3] = run(cluster, {"n4"}, 4, kNow - hours(1), "main", hours(1) + Seconds(20));
  EXPECT_THAT(victims(cluster.submit(high_spec(2))), IsEmpty()) << "n4 is free in 20 s";
}

TEST_F(Preemption, ArrayPreemptsForOneTaskAtATime) {
  fill();
  JobSpec spec = high_spec(4);
  spec.array.emplace().insert(0, 5);
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(claim_of(plan, {key.job, TaskIndex{0}}));
  cluster.evict(plan, kNow);
  const Plan next = cluster.plan();
  EXPECT_FALSE(claim_of(next, {key.job, TaskIndex{0}}));
  EXPECT_TRUE(claim_of(next, {key.job, TaskIndex{1}}));
}

// The victims end one after the other; no other job gets the resources that they release, and no
// further job is preempted.
TEST_F(Preemption, ReleasedResourcesAreKeptAndThePlanIsStable) {
  fill();
  const JobKey key = cluster.submit(high_spec(8, 2));
  const Plan first = cluster.plan();
  const std::vector<JobKey> ended = victims_of(first, key);
  ASSERT_EQ(ended.size(), 2u);
  cluster.evict(first, kNow);
  JobSpec greedy = high_spec(1);
  greedy.time_limit = minutes(1);
  greedy.priority = 1000;
  Job other = cluster.job(greedy);
  other.priority = 1000;
  const JobKey rival = other.key;
  cluster.put(other);

  for (int pass = 0; pass < 5; ++pass) {
    const Time now = kNow + Seconds(pass);
    const Plan plan = cluster.plan(now);
    EXPECT_FALSE(claim_of(plan, key)) << "it has its victims";
    EXPECT_EQ(pending_of(plan, key)->reason, Reason::preempting);
    EXPECT_EQ(pending_of(plan, key)->expected_start, kNow + Seconds(30));
    // The competing job preempts one more at first.
    cluster.evict(plan, now);
  }
  cluster.end(ended[0]);
  const Plan half = cluster.plan(kNow + Seconds(6));
  EXPECT_FALSE(start_of(half, key));
  EXPECT_FALSE(start_of(half, rival)) << "what came free is kept for the other";
  EXPECT_THAT(pending_of(half, key)->detail, HasSubstr("1 of 2 has so far"));

  cluster.end(ended[1]);
  const Plan clear = cluster.plan(kNow + Seconds(7));
  ASSERT_TRUE(start_of(clear, key));
  EXPECT_EQ(start_of(clear, key)->nodes.size(), 2u);
  EXPECT_EQ(over_commitment(cluster.state, clear), "");
  cluster.take(clear, kNow + Seconds(7));
  std::optional<std::size_t> groups;
  for (int pass = 0; pass < 5; ++pass) {
    const Plan after = cluster.plan(kNow + Seconds(8 + pass));
    EXPECT_THAT(victims_of(after, key), IsEmpty());
    EXPECT_EQ(after.groups.size(), groups.value_or(after.groups.size()));
    groups = after.groups.size();
  }
}

TEST_F(Preemption, ExpiredClaimHasNoEffect) {
  fill();
  const JobKey key = cluster.submit(high_spec(4));
  const Plan first = cluster.plan();
  ASSERT_TRUE(claim_of(first, key));
  cluster.evict(first, kNow);
  const Time until = claim_of(first, key)->claim.until;
  EXPECT_EQ(cluster.plan(until - Seconds(1)).wake, until);
  EXPECT_NE(pending_info(key, until).reason, Reason::preempting);
  Node node = cluster.node("n4");
  for (const NodeShare& share : claim_of(first, key)->claim.nodes)
    node = *cluster.state.nodes.find(share.node);
  node.admin = AdminState::drain;
  cluster.put(node);
  EXPECT_NE(pending_info(key).reason, Reason::preempting)
      << "nor while a node of it cannot be used";
}

TEST_F(Preemption, PlannedStartsOfEarlierJobsAreRespected) {
  // n1 to n3 are full of jobs that may not be preempted; n4 runs a job of the low tier.
  for (const char* name : {"n1", "n2", "n3"})
    run(cluster, {name}, 4, kNow - hours(1), "high", hours(1) + minutes(30));
  run(cluster, {"n4"}, 4);
  JobSpec wide = high_spec(16, 4);
  Job first = cluster.job(wide);
  first.priority = 10;
  const JobKey before = first.key;
  cluster.put(first);
  EXPECT_THAT(victims(before), IsEmpty()) << "it could not start";
  EXPECT_EQ(pending_info(before).expected_start, kNow + hours(23))
      << "when the low one ends by itself";
  EXPECT_EQ(victims(cluster.submit(high_spec(4))).size(), 1u)
      << "an hour on n4 delays no other job";
  JobSpec longer = high_spec(4);
  longer.time_limit = hours(23) + minutes(1);
  const JobKey late = cluster.submit(longer);
  EXPECT_THAT(victims(late), IsEmpty());
}

TEST_F(Preemption, AJobOfSeveralPartitionsIsNotKeptFromItByItsOwnPlannedStart) {
  fill();
  JobSpec spec = high_spec(16, 4);
  spec.partitions = {"high", "main"};
  spec.time_limit = hours(200);
  EXPECT_EQ(victims(cluster.submit(spec)).size(), 4u);
}

TEST_F(Preemption, NoJobIsPreemptedIfALicenceIsMissing) {
  fill();
  cluster.policy.licenses = {{"matlab", 1}};
  JobSpec spec = high_spec(2);
  spec.licenses = {{"matlab", 2}};
  EXPECT_THAT(victims(cluster.submit(spec)), IsEmpty());
  spec.licenses = {{"matlab", 1}};
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(claim_of(plan, key));
  cluster.evict(plan, kNow);
  JobSpec free = high_spec(2);
  free.licenses = {{"matlab", 1}};
  EXPECT_EQ(pending_info(cluster.submit(free)).reason, Reason::licenses) << "kept as well";
}

// The engine refuses claims of throttled arrays, because another task may take the place.
TEST(Preempt, ARequeuedTaskOfAThrottledArrayDoesNotPreempt) {
  TestCluster cluster;
  cluster.add_node("n1", 4);
  add_tiers(cluster);
  run(cluster, {"n1"}, 4);
  JobSpec spec = high_spec(4);
  spec.array.emplace().insert(0, 2);
  spec.array_throttle = 2;
  Job array = cluster.job(spec);
  array.array->waiting.clear();
  cluster.put(array);
  Job task = cluster.job(high_spec(4));
  task.key = {array.key.job, TaskIndex{1}};
  cluster.put(task);
  EXPECT_FALSE(claim_of(cluster.plan(), task.key));
}

// Its other partition has room for all tasks.
TEST(Preempt, AnArrayOfWhichNoTaskWaitsAnyMoreDoesNotPreempt) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2"}) cluster.add_node(name, 4);
  add_tiers(cluster);
  for (const auto& [partition, node] :
       {std::pair("high", "n1"), std::pair("main", "n1"), std::pair("spare", "n2")}) {
    Partition changed = *cluster.state.partitions.find("main");
    if (const Partition* found = cluster.state.partitions.find(partition)) changed = *found;
    changed.name = partition;
    changed.is_default = changed.name == "main";
    changed.nodes = {node};
    cluster.put(changed);
  }
  run(cluster, {"n1"}, 4);
  JobSpec spec = high_spec(2);
  spec.partitions = {"high", "spare"};
  spec.array.emplace().insert(0, 1);
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, {key.job, TaskIndex{1}}));
  for (const PlanGroup& group : plan.groups) EXPECT_TRUE(group.claims.empty());
}

}  // namespace
}  // namespace ares::core::sched
