// Tests: core/sched/place/fit, job_classes
// GPUs without a type on nodes with different types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using testing::ElementsAre;

// n1 and n3 have four a100, n2 has four h100.
TestCluster three_nodes() {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3"}) cluster.add_node(name, 8, Bytes::mib(8000));
  cluster.add_gpus("n1", "a100", 4);
  cluster.add_gpus("n2", "h100", 4);
  cluster.add_gpus("n3", "a100", 4);
  return cluster;
}

JobSpec per_node(std::uint32_t nodes, std::uint32_t gpus) {
  JobSpec spec = TestCluster::spec(nodes, nodes);
  spec.gpus_per_node = {{"", gpus}};
  return spec;
}

std::vector<std::size_t> gpu_counts(const Start& start) {
  std::vector<std::size_t> counts;
  for (const NodeShare& share : start.nodes) counts.push_back(share.gpus.size());
  return counts;
}

TEST(MixedGpuTypes, NodesGiveTheTypesTheyHaveWhereNoTypeIsEnough) {
  TestCluster cluster = three_nodes();
  const JobKey all = cluster.submit(per_node(3, 4));
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, all));
  EXPECT_THAT(gpu_counts(*start_of(plan, all)), ElementsAre(4u, 4u, 4u));
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
}

TEST(MixedGpuTypes, OneTypeIsWaitedForWhereItIsEnough) {
  TestCluster cluster = three_nodes();
  const JobKey first = cluster.submit(per_node(2, 3));
  const JobKey second = cluster.submit(per_node(2, 3));
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, first));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, first)), ElementsAre("n1", "n3"));
  EXPECT_FALSE(start_of(plan, second)) << "n2 would be of another type";
  EXPECT_EQ(pending_of(plan, second)->reason, Reason::resources);
}

TEST(MixedGpuTypes, GpusInTotalAndForTasks) {
  TestCluster cluster = three_nodes();
  JobSpec total = TestCluster::spec(3, 3);
  total.gpus_total = {{"", 11}};
  const JobKey in_total = cluster.submit(total);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, in_total));
  const auto counts = gpu_counts(*start_of(plan, in_total));
  EXPECT_EQ(counts[0] + counts[1] + counts[2], 11u);
  EXPECT_EQ(over_commitment(cluster.state, plan), "");

  TestCluster other = three_nodes();
  JobSpec tasks = TestCluster::spec(12, 3);
  tasks.max_nodes = 3;
  tasks.gpus_per_task = {{"", 1}};
  const JobKey for_tasks = other.submit(tasks);
  const Plan second = other.plan();
  ASSERT_TRUE(start_of(second, for_tasks));
  EXPECT_THAT(gpu_counts(*start_of(second, for_tasks)), ElementsAre(4u, 4u, 4u));
}

TEST(MixedGpuTypes, WholeNodesGetAllTheirGpus) {
  TestCluster cluster = three_nodes();
  cluster.add_gpus("n2", "l40", 2);
  JobSpec spec = per_node(3, 2);
  spec.exclusive = true;
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_THAT(gpu_counts(*start_of(plan, key)), ElementsAre(4u, 6u, 4u));
}

TEST(MixedGpuTypes, OneNodeGivesOneType) {
  TestCluster cluster = three_nodes();
  cluster.add_gpus("n2", "l40", 2);
  const JobKey five = cluster.submit(per_node(3, 5));
  JobSpec one = TestCluster::spec();
  one.gpus_per_node = {{"", 6}};
  const JobKey six = cluster.submit(one);
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, five)->reason, Reason::bad_constraints);
  EXPECT_EQ(pending_of(plan, six)->reason, Reason::bad_constraints);
}

TEST(MixedGpuTypes, TypedAndLinkedGpusAreNotMixed) {
  TestCluster cluster = three_nodes();
  JobSpec typed = per_node(3, 1);
  typed.gpus_per_node = {{"a100", 1}};
  const JobKey of_type = cluster.submit(typed);
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, of_type)->reason, Reason::bad_constraints);
}

TEST(MixedGpuTypes, PlannedStartKeepsTheNodes) {
  TestCluster cluster = three_nodes();
  JobSpec small = per_node(1, 1);
  small.tasks = 1;
  const JobKey runs = cluster.submit(small);
  cluster.take(cluster.plan(), kNow);
  const JobKey waits = cluster.submit(per_node(3, 4));
  const JobKey late = cluster.submit(per_node(1, 1));
  const Plan plan = cluster.plan();
  EXPECT_FALSE(start_of(plan, waits));
  EXPECT_EQ(pending_of(plan, waits)->reason, Reason::resources);
  EXPECT_FALSE(start_of(plan, late)) << "it has no time limit and would delay the other";
  cluster.end(runs);
  const Plan next = cluster.plan();
  ASSERT_TRUE(start_of(next, waits));
}

}  // namespace
}  // namespace ares::core::sched
