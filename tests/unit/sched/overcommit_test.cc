// Tests: typed_demand, fit_layout, nodes_with_capacity, demand
// Jobs whose tasks share the CPUs of a node (--overcommit).
#include <gtest/gtest.h>

#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

JobSpec sharing(std::uint32_t tasks, std::uint32_t nodes = 1) {
  JobSpec spec = TestCluster::spec(tasks, nodes);
  spec.overcommit = true;
  return spec;
}

// "tasks/CPUs/MiB" on each node of its start; empty: it does not start.
std::string start_of_one(const TestCluster& cluster, const JobSpec& spec) {
  TestCluster copy = cluster;
  const JobKey key = copy.submit(spec);
  const Plan plan = copy.plan();
  EXPECT_EQ(over_commitment(copy.state, plan), "");
  const Start* start = start_of(plan, key);
  std::string text;
  if (start)
    for (const NodeShare& share : start->nodes)
      text += (text.empty() ? "" : " ") + std::to_string(share.tasks) + "/" +
              std::to_string(share.cpus) + "/" + std::to_string(share.memory.value() >> 20);
  return text;
}

TEST(Overcommit, TasksShareTheCpusOfANodeThatIsFree) {
  TestCluster cluster;
  cluster.add_node("n1");
  EXPECT_EQ(start_of_one(cluster, TestCluster::spec(8)), "");
  JobSpec spec = sharing(8);
  spec.memory_per_node = Bytes::mib(100);
  EXPECT_EQ(start_of_one(cluster, spec), "8/4/100");
  spec.tasks = 3;
  EXPECT_EQ(start_of_one(cluster, spec), "3/3/100");
  spec.cpus_per_task = 9;
  EXPECT_EQ(start_of_one(cluster, spec), "3/4/100");
}

TEST(Overcommit, MemoryForEachCpuIsForThoseThatTheJobGets) {
  TestCluster cluster;
  cluster.add_node("n1");
  JobSpec spec = sharing(8);
  spec.memory_per_cpu = Bytes::mib(1000);
  EXPECT_EQ(start_of_one(cluster, spec), "8/4/4000");
  spec.memory_per_cpu = Bytes::mib(1001);
  EXPECT_EQ(start_of_one(cluster, spec), "");
}

TEST(Overcommit, ANodeInUseTakesTasksForItsFreeCpus) {
  TestCluster cluster;
  cluster.add_node("n1");
  JobSpec other = TestCluster::spec(2);
  other.memory_per_node = Bytes::mib(100);
  cluster.submit(other);
  cluster.take(cluster.plan(), kNow);
  JobSpec spec = sharing(2);
  spec.memory_per_node = Bytes::mib(100);
  EXPECT_EQ(start_of_one(cluster, spec), "2/2/100");
  spec.tasks = 3;
  EXPECT_EQ(start_of_one(cluster, spec), "");
}

TEST(Overcommit, OneNodeIsEnoughAndSeveralShareTheTasks) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3"}) cluster.add_node(name);
  JobSpec spec = sharing(8);
  spec.memory_per_node = Bytes::mib(100);
  spec.max_nodes = 8;
  EXPECT_EQ(start_of_one(cluster, spec), "8/4/100");
  spec.tasks = 12;
  spec.min_nodes = spec.max_nodes = 2;
  EXPECT_EQ(start_of_one(cluster, spec), "6/4/100 6/4/100");
}

TEST(Overcommit, EachNodeGivesAsManyCpusAsItHas) {
  TestCluster cluster;
  cluster.add_node("small", 2);
  cluster.add_node("large", 8);
  JobSpec spec = sharing(10);
  spec.memory_per_node = Bytes::mib(100);
  spec.required_nodes = {"small"};
  EXPECT_EQ(start_of_one(cluster, spec), "10/2/100");
  spec.required_nodes = {"large"};
  EXPECT_EQ(start_of_one(cluster, spec), "10/8/100");
}

}  // namespace
}  // namespace ares::core::sched
