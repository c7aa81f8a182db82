// Tests: cluster_index, fit_layout, expected_releases, decide_plan
// Nodes that take only so many attempts at a time (Inventory::max_attempts), as nodes of Kubernetes do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "unit/sched/cluster.h"
#include "unit/sched/preemption.h"
#include "unit/sched/random_cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::HasSubstr;

constexpr std::uint32_t kCpusOfNode = 8;

// Nodes n1, n2, ... of which each takes so many attempts.
TestCluster limited_nodes(std::uint32_t nodes, std::uint32_t attempts) {
  TestCluster cluster;
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.add_node(name, kCpusOfNode);
    Node node = cluster.node(name);
    node.inventory.max_attempts = attempts;
    cluster.put(node);
  }
  return cluster;
}

JobSpec small(int limit = 60) {
  JobSpec spec = TestCluster::spec(1);
  spec.time_limit = minutes(limit);
  return spec;
}

TEST(MaxAttempts, NodeTakesNoMoreThoughCpusAreFree) {
  TestCluster cluster = limited_nodes(1, 2);
  const JobKey first = cluster.submit(small(30)), second = cluster.submit(small(40)),
               third = cluster.submit(small());
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, first));
  EXPECT_TRUE(start_of(plan, second));
  EXPECT_FALSE(start_of(plan, third));
  cluster.take(plan, kNow);
  const Plan next = cluster.plan();
  const PendingInfo* waits = pending_of(next, third);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->reason, Reason::resources);
  EXPECT_THAT(waits->detail, HasSubstr("1 node with as many jobs as they take"));
  EXPECT_EQ(waits->expected_start, kNow + minutes(30));
  cluster.end(second);
  EXPECT_TRUE(start_of(cluster.plan(), third));
}

TEST(MaxAttempts, NodesWithoutALimitTakeAny) {
  TestCluster cluster = limited_nodes(1, 0);
  cluster.add_node("free", kCpusOfNode);
  std::vector<JobKey> jobs;
  for (std::uint32_t i = 0; i < kCpusOfNode; ++i) jobs.push_back(cluster.submit(small()));
  const Plan plan = cluster.plan();
  for (const JobKey& key : jobs) {
    ASSERT_TRUE(start_of(plan, key));
    EXPECT_EQ(node_names(cluster.state, *start_of(plan, key)), std::vector<std::string>{"free"});
  }
}

TEST(MaxAttempts, AJobEndsForAPlaceAlone) {
  TestCluster cluster = limited_nodes(1, 1);
  add_tiers(cluster);
  const JobKey low = run(cluster, {"n1"}, 1);
  const JobKey high = cluster.submit(high_spec(1));
  EXPECT_THAT(victims_of(cluster.plan(), high), testing::ElementsAre(low));
}

TEST(MaxAttempts, NoNodeTakesMoreAndNoJobIsForgotten) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random dice(seed);
    const std::uint32_t most = 1 + dice.upto(2);
    TestCluster cluster = limited_nodes(1 + dice.upto(2), most);
    expect_all_run(cluster, dice,
                   {.next_job =
                        [&] {
                          JobSpec spec = small(1 + static_cast<int>(dice.upto(30)));
                          spec.tasks = 1 + dice.upto(kCpusOfNode - 1);
                          return spec;
                        },
                    .after_start =
                        [&] {
                          cluster.state.nodes.for_each([&](NodeId, const Node& node) {
                            EXPECT_LE(node.charges.size(), most) << node.name;
                          });
                        }});
  }
}

}  // namespace
}  // namespace ares::core::sched
