// Tests: gang_admission, start_group, joint_start, starter
// Gangs in the plan: all members start together or none does, nothing is allocated meanwhile, and
// there is one planned start for all.
#include "core/sched/queue/gang_admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sched/why/explanation.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

JobSpec member(std::uint32_t tasks, std::uint32_t size, const std::string& gang = "train",
               int limit = 60) {
  JobSpec spec = TestCluster::spec(tasks);
  spec.gang = GangRequest{gang, size, 0, std::nullopt};
  spec.time_limit = minutes(limit);
  return spec;
}

JobSpec plain(std::uint32_t tasks, int limit = 60) {
  JobSpec spec = TestCluster::spec(tasks);
  spec.time_limit = minutes(limit);
  return spec;
}

std::vector<JobKey> submit_gang(TestCluster& cluster, std::uint32_t count, const JobSpec& spec) {
  std::vector<JobKey> keys;
  for (std::uint32_t i = 0; i < count; ++i) keys.push_back(cluster.submit(spec));
  return keys;
}

TestCluster two_nodes() {
  TestCluster cluster;
  cluster.add_node("n1", 4);
  cluster.add_node("n2", 4);
  return cluster;
}

TEST(GangPlan, AllStartInOneGroup) {
  TestCluster cluster = two_nodes();
  const auto keys = submit_gang(cluster, 3, member(2, 3));
  const Plan plan = cluster.plan();
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].starts.size(), 3u);
  EXPECT_EQ(plan.groups[0].jobs.size(), 3u);
  EXPECT_EQ(plan.groups[0].nodes.size(), 2u);
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
  EXPECT_EQ(plan.pending.size(), 0u);
}

TEST(GangPlan, AnIncompleteGangHoldsNothing) {
  TestCluster cluster = two_nodes();
  const auto keys = submit_gang(cluster, 2, member(4, 3));
  const auto others = submit_gang(cluster, 2, plain(4));
  const Plan plan = cluster.plan();
  for (const JobKey& key : keys) {
    EXPECT_EQ(pending_of(plan, key)->reason, Reason::waiting_for_gang);
    EXPECT_EQ(pending_of(plan, key)->detail, "2 of 3 members of gang train are here");
  }
  for (const JobKey& key : others) EXPECT_TRUE(start_of(plan, key));
}

TEST(GangPlan, WaitsForAHeldMemberAndForATimeToBegin) {
  TestCluster cluster = two_nodes();
  Job held = cluster.job(member(1, 2));
  held.hold = Hold::user;
  const JobKey ready = cluster.submit(member(1, 2));
  cluster.put(held);
  Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, ready)->reason, Reason::waiting_for_gang);
  EXPECT_THAT(pending_of(plan, ready)->detail, HasSubstr("it waits for job 1 (JobHeldUser)"));
  EXPECT_EQ(pending_of(plan, held.key)->reason, Reason::job_held_user);
  held.hold = Hold::none;
  JobSpec later = member(1, 2);
  later.begin = kNow + minutes(5);
  held.spec = std::make_shared<const JobSpec>(later);
  cluster.put(held);
  plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, held.key)->reason, Reason::begin_time);
  EXPECT_THAT(pending_of(plan, ready)->detail, HasSubstr("job 1 (BeginTime)"));
  ASSERT_TRUE(plan.wake);
  EXPECT_EQ(*plan.wake, kNow + minutes(5));
  EXPECT_EQ(cluster.plan(kNow + minutes(5)).groups.size(), 1u);
}

// The deadlock of schedulers that place jobs one by one: each gang would get half of the nodes and
// wait for the rest.
TEST(GangPlan, OfTwoGangsThatEachCouldHoldHalfOneStartsFirst) {
  TestCluster cluster;
  for (int i = 1; i <= 4; ++i) cluster.add_node("n" + std::to_string(i), 4);
  std::vector<JobKey> a, b;
  // Alternately, as when two users submit at the same time.
  for (int i = 0; i < 3; ++i) {
    a.push_back(cluster.submit(member(4, 3, "a")));
    b.push_back(cluster.submit(member(4, 3, "b")));
  }
  Plan plan = cluster.plan();
  for (const JobKey& key : a) EXPECT_TRUE(start_of(plan, key));
  for (const JobKey& key : b) {
    EXPECT_FALSE(start_of(plan, key));
    EXPECT_EQ(*pending_of(plan, key)->expected_start, kNow + minutes(60));
  }
  cluster.take(plan, kNow);
  for (const JobKey& key : a) cluster.end(key);
  plan = cluster.plan(kNow + minutes(60));
  for (const JobKey& key : b) EXPECT_TRUE(start_of(plan, key));
}

TEST(GangPlan, FailedPlacementLeavesTheIndexUnchanged) {
  TestCluster cluster;
  cluster.add_node("n1", 4);
  cluster.add_node("n2", 4);
  cluster.submit(plain(3));
  cluster.take(cluster.plan(), kNow);
  cluster.policy.backfill.kind = BackfillKind::easy;
  // Two of three members would fit. A job of the same class that fits alone starts and gets the
  // resources that it would get without the gang.
  const auto keys = submit_gang(cluster, 3, member(2, 3, "big", 120));
  const JobKey small = cluster.submit(plain(2, 10));
  const Plan plan = cluster.plan();
  for (const JobKey& key : keys) EXPECT_FALSE(start_of(plan, key));
  EXPECT_TRUE(start_of(plan, small));
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
  TestCluster alone = two_nodes();
  alone.submit(plain(3));
  alone.take(alone.plan(), kNow);
  const JobKey same = alone.submit(plain(2, 10));
  EXPECT_EQ(start_of(alone.plan(), same)->nodes, start_of(plan, small)->nodes);
}

TEST(GangPlan, GetsOnePlannedStartThatNoJobDelays) {
  TestCluster cluster = two_nodes();
  cluster.submit(plain(4, 30));
  cluster.take(cluster.plan(), kNow);
  const auto keys = submit_gang(cluster, 2, member(4, 2));
  const JobKey quick = cluster.submit(plain(4, 30)), slow = cluster.submit(plain(4, 31));
  const Plan plan = cluster.plan();
  std::vector<std::vector<NodeId>> nodes;
  for (const JobKey& key : keys) {
    const PendingInfo* info = pending_of(plan, key);
    EXPECT_EQ(info->reason, Reason::resources);
    EXPECT_EQ(*info->expected_start, kNow + minutes(30));
    nodes.push_back(info->expected_nodes);
    EXPECT_THAT(info->detail, HasSubstr("starts together with the 1 other of gang train"));
  }
  EXPECT_NE(nodes[0], nodes[1]);
  EXPECT_TRUE(start_of(plan, quick)) << "it is over by then";
  EXPECT_FALSE(start_of(plan, slow)) << "it would delay the gang";
}

// Small jobs keep arriving; the gang at the head starts at its planned start.
TEST(GangPlan, TheHeadGangDoesNotStarve) {
  TestCluster cluster = two_nodes();
  for (int i = 0; i < 8; ++i) cluster.submit(plain(1, 20 + i));
  cluster.take(cluster.plan(), kNow);
  const auto keys = submit_gang(cluster, 2, member(4, 2));
  Time now = kNow;
  const Time promised = *pending_of(cluster.plan(now), keys[0])->expected_start;
  std::map<JobKey, Time> ends;
  bool started = false;
  for (int minute = 1; minute < 200 && !started; ++minute) {
    cluster.submit(plain(1, 7));
    cluster.submit(plain(2, 90));
    now = kNow + minutes(minute);
    std::vector<JobKey> over;
    cluster.state.jobs.for_each([&](const JobKey& key, const Job& job) {
      if (job.state == JobState::running && *job.started + *job.allocation->time_limit <= now)
        over.push_back(key);
    });
    for (const JobKey& key : over) cluster.end(key);
    const Plan plan = cluster.plan(now);
    started = start_of(plan, keys[0]) != nullptr;
    EXPECT_EQ(started, start_of(plan, keys[1]) != nullptr);
    cluster.take(plan, now);
  }
  EXPECT_TRUE(started);
  EXPECT_LE(now, promised);
}

TEST(GangPlan, IsRankedByItsHighestMember) {
  TestCluster cluster;
  cluster.add_node("n1", 4);
  const JobKey before = cluster.submit(plain(3));
  Job high = cluster.job(member(2, 2));
  high.priority = 5;
  cluster.put(high);
  const JobKey low = cluster.submit(member(2, 2));
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, high.key));
  EXPECT_TRUE(start_of(plan, low));
  EXPECT_FALSE(start_of(plan, before));
}

TEST(GangPlan, LicencesAreNeededForAll) {
  TestCluster cluster = two_nodes();
  cluster.policy.licenses = {{"matlab", 3}};
  JobSpec spec = member(1, 2);
  spec.licenses = {{"matlab", 2}};
  const auto keys = submit_gang(cluster, 2, spec);
  JobSpec single = plain(1);
  single.licenses = {{"matlab", 3}};
  const JobKey other = cluster.submit(single);
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, keys[0])->reason, Reason::waiting_for_gang);
  EXPECT_EQ(pending_of(plan, keys[1])->reason, Reason::licenses);
  EXPECT_TRUE(start_of(plan, other)) << "the gang holds none of them meanwhile";
}

TEST(GangPlan, MembersOnOneNodeGetSeparateDevices) {
  TestCluster cluster;
  cluster.add_node("n1", 8);
  cluster.add_gpus("n1", "a100", 4);
  JobSpec spec = member(2, 2);
  spec.gpus_per_node = {{"a100", 2}};
  submit_gang(cluster, 2, spec);
  const Plan plan = cluster.plan();
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
  EXPECT_EQ(plan.groups[0].nodes.size(), 1u) << "one node is relied on once";
}

// Best fit would take a node with two free CPUs and one with one, and leave two fragments that the
// second member cannot use.
TEST(GangPlan, IdenticalMembersOfSeveralNodesArePlacedWheneverPossible) {
  TestCluster cluster;
  cluster.add_node("n1", 4);
  cluster.add_node("n2", 2);
  cluster.add_node("n3", 2);
  JobSpec spec = TestCluster::spec(4, 2);
  spec.tasks_per_node = 2;
  spec.gang = GangRequest{"pairs", 2, 0, std::nullopt};
  submit_gang(cluster, 2, spec);
  const Plan plan = cluster.plan();
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
}

TEST(GangPlan, ImpossibleGangIsReportedAndDelaysNoOtherJob) {
  TestCluster cluster = two_nodes();
  cluster.policy.backfill.kind = BackfillKind::none;
  const JobKey fits = cluster.submit(member(1, 2)), never = cluster.submit(member(5, 2));
  const JobKey other = cluster.submit(plain(4));
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, never)->reason, Reason::bad_constraints);
  EXPECT_EQ(pending_of(plan, fits)->reason, Reason::waiting_for_gang);
  EXPECT_TRUE(start_of(plan, other));
  // Each member would fit alone, but not all together, even on an empty cluster.
  TestCluster crowded = two_nodes();
  crowded.policy.backfill.kind = BackfillKind::none;
  const auto keys = submit_gang(crowded, 3, member(4, 3));
  const JobKey behind = crowded.submit(plain(4));
  const Plan second = crowded.plan();
  EXPECT_EQ(pending_of(second, keys[0])->reason, Reason::resources);
  EXPECT_FALSE(pending_of(second, keys[0])->expected_start);
  EXPECT_FALSE(start_of(second, keys[0]));
  EXPECT_TRUE(start_of(second, behind));
}

TEST(GangPlan, ExplanationNamesMissingMembersAndTheCommonStart) {
  TestCluster cluster = two_nodes();
  const JobKey first = cluster.submit(member(4, 3));
  const auto why = [&](const JobKey& key) {
    return explain_job(cluster.state, cluster.policy, *cluster.state.jobs.find(key), nullptr, kNow);
  };
  JobExplanation told = why(first);
  ASSERT_EQ(told.causes.size(), 1u);
  EXPECT_EQ(told.causes[0].reason, Reason::waiting_for_gang);
  EXPECT_EQ(told.causes[0].text, "1 of 3 members of gang train is here");
  EXPECT_FALSE(told.starts_now);
  cluster.submit(member(2, 3));
  cluster.submit(member(2, 3));
  EXPECT_TRUE(why(first).starts_now);
  cluster.submit(plain(1));
  cluster.put([&] {
    Job high = cluster.job(plain(1));
    high.priority = 9;
    return high;
  }());
  told = why(first);
  ASSERT_EQ(told.causes.size(), 1u);
  EXPECT_THAT(told.causes[0].text, HasSubstr("starts together with the 2 others of gang train"));
  ASSERT_TRUE(told.start);
  EXPECT_EQ(*told.start, kNow + minutes(60));
}

}  // namespace
}  // namespace ares::core::sched
