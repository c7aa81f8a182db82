// Tests: fit_layout, licenses, pass, placed_limits, cluster/time_limit, planner, queue_entry, planned_start_ledger
// Scheduling as users see it: which jobs start, where and with which resources. For reasons see
// plan_reasons_test.cc, for the order of jobs plan_order_test.cc.
#include "core/sched/pass/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sched/four_nodes.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Plan, StartsAJobOnTheFirstNode) {
  TestCluster cluster = four_nodes();
  const JobKey key = cluster.submit(TestCluster::spec());
  const Plan plan = cluster.plan();
  const Start* start = start_of(plan, key);
  ASSERT_TRUE(start);
  EXPECT_THAT(node_names(cluster.state, *start), ElementsAre("n1"));
  EXPECT_EQ(start->nodes[0].cpus, 1u);
  EXPECT_EQ(start->nodes[0].memory, Bytes::mib(500));
  EXPECT_THAT(start->nodes[0].cpu_ids, ElementsAre(0u));
  EXPECT_EQ(start->nodes[0].incarnation, 7u);
  EXPECT_EQ(plan.groups[0].jobs[0].second, cluster.state.jobs.find(key)->version);
  EXPECT_TRUE(plan.pending.empty());
}

TEST(Plan, SpreadsTasksEvenlyOverTheRequestedNodes) {
  TestCluster cluster = four_nodes();
  const JobKey key = cluster.submit(TestCluster::spec(6, 3));
  const Plan plan = cluster.plan();
  const Start* start = start_of(plan, key);
  ASSERT_TRUE(start);
  EXPECT_THAT(node_names(cluster.state, *start), ElementsAre("n1", "n2", "n3"));
  for (const NodeShare& share : start->nodes) EXPECT_EQ(share.tasks, 2u);
}

TEST(Plan, TakesAsManyNodesAsTasksNeedIfNoNumberIsRequested) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec(9);
  spec.max_nodes = 0;
  const Plan plan = cluster.plan();
  const JobKey key = cluster.submit(spec);
  const Plan second = cluster.plan();
  ASSERT_TRUE(start_of(second, key));
  EXPECT_EQ(start_of(second, key)->nodes.size(), 3u);
  EXPECT_EQ(start_of(second, key)->nodes[0].tasks, 3u);
}

TEST(Plan, ExcludeAndNodelistAreObeyed) {
  TestCluster cluster = four_nodes();
  JobSpec without = TestCluster::spec(2, 2);
  without.excluded_nodes = {"n1"};
  JobSpec with = TestCluster::spec(2, 2);
  with.required_nodes = {"n4"};
  const JobKey a = cluster.submit(without), b = cluster.submit(with);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, a) && start_of(plan, b));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, a)), ElementsAre("n2", "n3"));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, b)), testing::Contains("n4"));
}

TEST(Plan, JobWaitsForMemoryThoughCpusAreFree) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.memory_per_node = Bytes::mib(3000);
  spec.required_nodes = {"n1"};
  const JobKey first = cluster.submit(spec), second = cluster.submit(spec);
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, first));
  EXPECT_EQ(reason_of(plan, second), Reason::resources);
  EXPECT_THAT(pending_of(plan, second)->detail, HasSubstr("too little free memory"));
}

TEST(Plan, MemoryZeroIsAllOfTheNode) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.memory_per_node = Bytes(0);
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(start_of(plan, key)->nodes[0].memory, Bytes::mib(4000));
}

TEST(Plan, FourJobsShareANodeAndTheFifthWaits) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.required_nodes = {"n1"};
  std::vector<JobKey> keys;
  for (int i = 0; i < 5; ++i) keys.push_back(cluster.submit(spec));
  const Plan plan = cluster.plan();
  EXPECT_EQ(plan.groups.size(), 4u);
  EXPECT_EQ(reason_of(plan, keys[4]), Reason::resources);
}

TEST(Plan, ExclusiveTakesAllCpusOfAnEmptyNode) {
  TestCluster cluster = four_nodes();
  const JobKey small = cluster.submit(TestCluster::spec());
  JobSpec spec = TestCluster::spec();
  spec.exclusive = true;
  const JobKey alone = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, small) && start_of(plan, alone));
  EXPECT_NE(start_of(plan, small)->nodes[0].node, start_of(plan, alone)->nodes[0].node);
  EXPECT_EQ(start_of(plan, alone)->nodes[0].cpus, 4u);
  EXPECT_EQ(start_of(plan, alone)->nodes[0].tasks, 1u);
}

TEST(Plan, UntypedGpusAreAllOfOneType) {
  TestCluster cluster = four_nodes();
  cluster.add_gpus("n1", "a100", 1);
  cluster.add_gpus("n1", "h100", 2);
  JobSpec spec = TestCluster::spec();
  spec.gpus_per_node = {{"", 2}};
  const JobKey two = cluster.submit(spec);
  spec.gpus_per_node = {{"", 3}};
  const JobKey three = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, two));
  EXPECT_THAT(start_of(plan, two)->nodes[0].gpus, ElementsAre(GpuIndex(1), GpuIndex(2)));
  EXPECT_EQ(reason_of(plan, three), Reason::bad_constraints);
}

TEST(Plan, GpusInTotalAreSpreadOverTheNodes) {
  TestCluster cluster = four_nodes();
  cluster.add_gpus("n3", "a100", 2);
  cluster.add_gpus("n4", "a100", 2);
  JobSpec spec = TestCluster::spec(2, 2);
  spec.gpus_total = {{"a100", 3}};
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ElementsAre("n3", "n4"));
  EXPECT_EQ(start_of(plan, key)->nodes[0].gpus.size(), 2u);
  EXPECT_EQ(start_of(plan, key)->nodes[1].gpus.size(), 1u);
}

TEST(Plan, GpusInTotalMayComeFromANodeOtherThanMostTasks) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2"}) {
    cluster.add_node(name, 1);
    cluster.add_gpus(name, "a100", 1);
  }
  cluster.add_node("n3", 8);
  JobSpec spec = TestCluster::spec(4, 2);
  spec.gpus_total = {{"a100", 1}};
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key)) << pending_of(plan, key)->detail;
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ElementsAre("n1", "n3"));
}

TEST(Plan, JobsWithoutGpusAvoidGpuNodes) {
  TestCluster cluster = four_nodes();
  cluster.add_gpus("n1", "a100", 4);
  const JobKey key = cluster.submit(TestCluster::spec());
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ElementsAre("n2"));
}

TEST(Plan, GangWaitsUntilAllNodesAreFree) {
  TestCluster cluster = four_nodes();
  JobSpec one = TestCluster::spec(4);
  one.required_nodes = {"n2"};
  cluster.submit(one);
  const JobKey gang = cluster.submit(TestCluster::spec(16, 4));
  const Plan plan = cluster.plan();
  EXPECT_FALSE(start_of(plan, gang));
  EXPECT_EQ(reason_of(plan, gang), Reason::resources);
}

TEST(Plan, WakesWhenTheBeginTimeComes) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.begin = kNow + minutes(7);
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  EXPECT_EQ(plan.wake, kNow + minutes(7));
  EXPECT_EQ(pending_of(plan, key)->expected_start, kNow + minutes(7));
  EXPECT_TRUE(start_of(cluster.plan(kNow + minutes(7)), key));
}

TEST(Plan, ArrayStartsSeveralTasksUpToItsThrottle) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.array.emplace().insert(1, 10);
  spec.array_throttle = 3;
  Job job = cluster.job(spec);
  job.array->holding = 1;
  cluster.put(job);
  const Plan plan = cluster.plan();
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(plan.groups[0].starts[0].key.task.value, 1u);
  EXPECT_EQ(plan.groups[1].starts[0].key.task.value, 2u);
  EXPECT_EQ(reason_of(plan, job.key), Reason::job_array_task_limit);
}

TEST(Plan, ARequeuedTaskCountsAgainstItsArraysThrottle) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.array.emplace().insert(1, 3);
  spec.array_throttle = 1;
  Job array = cluster.job(spec);
  array.array->waiting.clear();
  array.array->holding = 1;
  cluster.put(array);
  Job task = cluster.job(TestCluster::spec());
  task.key = {array.key.job, TaskIndex{2}};
  cluster.put(task);
  EXPECT_EQ(reason_of(cluster.plan(), task.key), Reason::job_array_task_limit);
}

TEST(Plan, ANodeThatFailedToLaunchIsAvoidedUnlessItIsTheOnlyOne) {
  TestCluster cluster = four_nodes();
  Job job = cluster.job(TestCluster::spec());
  job.excluded = {cluster.node("n1").id};
  cluster.put(job);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, job.key));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, job.key)), ElementsAre("n2"));
  JobSpec spec = TestCluster::spec();
  spec.required_nodes = {"n1"};
  Job pinned = cluster.job(spec);
  pinned.excluded = {cluster.node("n1").id};
  cluster.put(pinned);
  EXPECT_TRUE(start_of(cluster.plan(), pinned.key));
}

TEST(Plan, ExhaustedBudgetStartsNothingMoreAndIsReported) {
  TestCluster cluster = four_nodes();
  JobKey last;
  for (int i = 0; i < 8; ++i) {
    JobSpec spec = TestCluster::spec();
    spec.nice = i;
    last = cluster.submit(spec);
  }
  const Plan plan = cluster.plan(kNow, Budget{12});
  EXPECT_EQ(plan.groups.size(), 3u);
  ASSERT_EQ(plan.pending.size(), 5u);
  EXPECT_THAT(pending_of(plan, last)->detail, HasSubstr("budget"));
}

}  // namespace
}  // namespace ares::core::sched
