// The order of jobs in a pass, and which jobs may pass which.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sched/queue/order.h"
#include "unit/sched/four_nodes.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

TEST(Plan, PriorityThenNiceThenAgeDecideTheOrder) {
  TestCluster cluster;
  cluster.add_node("n1", 1);
  const auto add = [&](std::uint32_t priority, std::int32_t nice, int age) {
    JobSpec spec = TestCluster::spec();
    spec.nice = nice;
    Job job = cluster.job(spec);
    job.priority = priority;
    job.eligible = kNow - minutes(age);
    cluster.put(job);
    return job.key;
  };
  const JobKey fourth = add(1, 5, 60), third = add(1, 0, 10), second = add(1, 0, 30),
               first = add(9, 100, 1);
  const auto rest_starts = [&](const JobKey& key) {
    const bool starts = start_of(cluster.plan(), key) != nullptr;
    Job job = *cluster.state.jobs.find(key);
    job.hold = Hold::user;
    cluster.put(job);
    return starts;
  };
  EXPECT_TRUE(rest_starts(first));
  EXPECT_TRUE(rest_starts(second));
  EXPECT_TRUE(rest_starts(third));
  EXPECT_TRUE(rest_starts(fourth));
}

TEST(Plan, HigherTierComesFirstAndAJobStartsOnlyOnce) {
  TestCluster cluster;
  cluster.add_node("n1", 1);
  Partition high = cluster.partition();
  high.name = "high";
  high.tier = 2;
  cluster.put(high);
  const JobKey low = cluster.submit(TestCluster::spec());
  JobSpec spec = TestCluster::spec();
  spec.partitions = {"main", "high"};
  const JobKey both = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_EQ(plan.groups.size(), 1u);
  ASSERT_TRUE(start_of(plan, both));
  EXPECT_EQ(start_of(plan, both)->partition, "high");
  EXPECT_EQ(reason_of(plan, low), Reason::resources);
}

TEST(Plan, ShortJobPassesAndALongOneDoesNot) {
  TestCluster cluster;
  cluster.add_node("n1", 4);
  JobSpec running = TestCluster::spec(3);
  running.time_limit = minutes(60);
  cluster.submit(running);
  cluster.take(cluster.plan(), kNow);

  JobSpec head = TestCluster::spec(4);
  head.time_limit = minutes(60);
  const JobKey blocked = cluster.submit(head);
  JobSpec filler = TestCluster::spec();
  filler.time_limit = minutes(61);
  const JobKey too_long = cluster.submit(filler);
  filler.time_limit = Seconds(0);
  const JobKey endless = cluster.submit(filler);
  filler.time_limit = minutes(60);
  const JobKey short_enough = cluster.submit(filler);

  const Plan plan = cluster.plan();
  EXPECT_EQ(reason_of(plan, blocked), Reason::resources);
  EXPECT_EQ(pending_of(plan, blocked)->expected_start, kNow + minutes(60));
  EXPECT_EQ(reason_of(plan, too_long), Reason::priority);
  EXPECT_EQ(reason_of(plan, endless), Reason::priority);
  EXPECT_TRUE(start_of(plan, short_enough));
  EXPECT_EQ(JobsAhead(cluster.state, cluster.policy, kNow).of(*cluster.state.jobs.find(too_long)),
            1u);
}

TEST(Plan, OnlyResourcesThatTheBlockedJobNeedsAreKeptForIt) {
  TestCluster cluster = four_nodes();
  JobSpec running = TestCluster::spec(2);
  running.time_limit = minutes(60);
  running.required_nodes = {"n1"};
  cluster.submit(running);
  cluster.take(cluster.plan(), kNow);

  // n1 will have four CPUs then, so one is left over.
  JobSpec head = TestCluster::spec(3);
  head.required_nodes = {"n1"};
  const JobKey blocked = cluster.submit(head);
  JobSpec filler = TestCluster::spec();
  filler.required_nodes = {"n1"};
  const JobKey fits_beside = cluster.submit(filler), does_not = cluster.submit(filler);
  const Plan plan = cluster.plan();
  EXPECT_EQ(reason_of(plan, blocked), Reason::resources);
  EXPECT_TRUE(start_of(plan, fits_beside));
  EXPECT_FALSE(start_of(plan, does_not));
}

TEST(Plan, JobWaitingForUnlimitedJobsIsNotPassedByUnlimitedJobs) {
  TestCluster cluster;
  cluster.add_node("n1", 4);
  cluster.submit(TestCluster::spec(3));
  cluster.take(cluster.plan(), kNow);
  const JobKey whole = cluster.submit(TestCluster::spec(4));
  const JobKey small = cluster.submit(TestCluster::spec(1));
  JobSpec limited = TestCluster::spec();
  limited.time_limit = minutes(10);
  const JobKey limited_small = cluster.submit(limited);
  const Plan plan = cluster.plan();
  EXPECT_EQ(reason_of(plan, whole), Reason::resources);
  EXPECT_FALSE(pending_of(plan, whole)->expected_start);
  EXPECT_EQ(reason_of(plan, small), Reason::priority);
  EXPECT_TRUE(start_of(plan, limited_small));
}

TEST(Plan, BlockedJobsOfOtherPartitionsGetPlannedStartsToo) {
  TestCluster cluster;
  cluster.add_node("n1", 1);
  Partition other = cluster.partition();
  cluster.add_node("n2", 1);
  Partition main = cluster.partition();
  main.nodes = {"n1"};
  cluster.put(main);
  other.name = "other";
  other.nodes = {"n2"};
  cluster.put(other);
  JobSpec a = TestCluster::spec(), b = TestCluster::spec();
  a.time_limit = b.time_limit = minutes(10);
  b.partitions = {"other"};
  cluster.submit(a);
  cluster.submit(b);
  cluster.take(cluster.plan(), kNow);
  const JobKey wait_a = cluster.submit(a), wait_b = cluster.submit(b);
  const Plan plan = cluster.plan();
  for (const JobKey& key : {wait_a, wait_b}) {
    EXPECT_EQ(reason_of(plan, key), Reason::resources);
    EXPECT_EQ(pending_of(plan, key)->expected_start, kNow + minutes(10));
  }
}

}  // namespace
}  // namespace ares::core::sched
