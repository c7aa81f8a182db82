// Jobs of several nodes in a partition with a known network: their nodes, what they wait for, and
// how long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sched/index/cluster_index.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

// Six nodes of four CPUs; leaf1 has n1 n4, leaf2 n2 n5, leaf3 n3 n6.
TestCluster fabric(NetworkKind kind = NetworkKind::tree) {
  TestCluster cluster;
  for (int i = 1; i <= 6; ++i) cluster.add_node("n" + std::to_string(i));
  NetworkSpec network{
      "net",
      kind,
      {{"leaf1", {"n1", "n4"}, {}}, {"leaf2", {"n2", "n5"}, {}}, {"leaf3", {"n3", "n6"}, {}}}};
  if (kind == NetworkKind::tree)
    network.domains.push_back({"spine", {}, {"leaf1", "leaf2", "leaf3"}});
  cluster.policy.networks = std::vector{network};
  Partition main = cluster.partition();
  main.topology = "net";
  cluster.put(main);
  return cluster;
}

JobSpec gang(std::uint32_t nodes, std::uint32_t cpus_each = 4) {
  JobSpec spec = TestCluster::spec(nodes, nodes);
  spec.cpus_per_task = cpus_each;
  spec.time_limit = minutes(60);
  return spec;
}

std::vector<std::string> started_on(TestCluster& cluster, const JobSpec& spec, Time now = kNow) {
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan(now);
  const Start* start = start_of(plan, key);
  if (!start) return {};
  const auto names = node_names(cluster.state, *start);
  cluster.take(plan, now);
  return names;
}

void occupy(TestCluster& cluster, const std::string& node, std::uint32_t cpus = 4) {
  JobSpec spec = TestCluster::spec(cpus);
  spec.required_nodes = {node};
  spec.time_limit = hours(10);
  ASSERT_THAT(started_on(cluster, spec), ElementsAre(node));
}

TEST(NetworkPlan, GangsFillLeavesAndRanksFollowThem) {
  TestCluster cluster = fabric();
  EXPECT_THAT(started_on(cluster, gang(2)), ElementsAre("n1", "n4"));
  EXPECT_THAT(started_on(cluster, gang(4)), ElementsAre("n2", "n5", "n3", "n6"));
}

TEST(NetworkPlan, WithoutANetworkTheFullestNodesAreTakenInTheirOrder) {
  TestCluster cluster = fabric();
  cluster.policy.networks = {};
  Partition main = cluster.partition();
  main.topology.clear();
  cluster.put(main);
  EXPECT_THAT(started_on(cluster, gang(2)), ElementsAre("n1", "n2"));
}

TEST(NetworkPlan, FullerLeafIsPreferredAndUnevenSharesAreAllowed) {
  TestCluster cluster = fabric();
  occupy(cluster, "n1", 2);
  EXPECT_THAT(started_on(cluster, gang(2, 2)), ElementsAre("n1", "n4"));
  // Five tasks of one CPU on n4, which has one CPU free, and another node: not an even share, but
  // it fits.
  TestCluster narrow = fabric();
  for (const char* node : {"n1", "n2", "n3", "n5"}) occupy(narrow, node);
  occupy(narrow, "n4", 3);
  EXPECT_THAT(started_on(narrow,
                         [] {
                           JobSpec spec = TestCluster::spec(5, 2);
                           return spec;
                         }()),
              ElementsAre("n4", "n6"));
}

TEST(NetworkPlan, LimitOnSwitchesEndsAfterTheWaitTime) {
  TestCluster cluster = fabric();
  for (const char* node : {"n1", "n2", "n3"}) occupy(cluster, node);
  JobSpec spec = gang(2);
  spec.switches = 1;
  spec.switches_wait = hours(2);  // the job has been eligible for one hour
  const JobKey key = cluster.submit(spec);
  Planner planner;
  const Plan first = planner.plan(cluster.state, cluster.policy, {}, kNow);
  EXPECT_FALSE(start_of(first, key));
  ASSERT_TRUE(pending_of(first, key));
  EXPECT_THAT(pending_of(first, key)->detail, HasSubstr("under one leaf switch"));
  EXPECT_EQ(first.wake, kNow + hours(1));
  const Plan early = planner.plan(cluster.state, cluster.policy, {}, kNow + minutes(59));
  EXPECT_FALSE(start_of(early, key));
  const Plan late = planner.plan(cluster.state, cluster.policy, {}, kNow + hours(1));
  const Start* start = start_of(late, key);
  ASSERT_TRUE(start);
  EXPECT_THAT(node_names(cluster.state, *start), ElementsAre("n4", "n5"));
}

// More nodes than a leaf has: the job is valid and only waits until its limit on switches ends.
TEST(NetworkPlan, JobLargerThanALeafStartsAfterTheLimitEnds) {
  TestCluster cluster = fabric();
  JobSpec spec = gang(3);
  spec.switches = 1;
  spec.switches_wait = minutes(90);
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(pending_of(plan, key));
  EXPECT_EQ(pending_of(plan, key)->reason, Reason::resources);
  EXPECT_EQ(plan.wake, kNow + minutes(30));
  EXPECT_TRUE(start_of(cluster.plan(kNow + minutes(30)), key));
}

TEST(NetworkPlan, WithoutAWaitTimeTheLimitOnSwitchesNeverEnds) {
  TestCluster cluster = fabric();
  for (const char* node : {"n1", "n2", "n3"}) occupy(cluster, node);
  JobSpec spec = gang(2);
  spec.switches = 1;
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan(kNow + hours(5));
  EXPECT_FALSE(start_of(plan, key));
  ASSERT_TRUE(pending_of(plan, key)->expected_start);
  EXPECT_EQ(*pending_of(plan, key)->expected_start, kNow + hours(10));
  EXPECT_EQ(pending_of(plan, key)->expected_nodes.size(), 2u);
}

// Five tasks on two nodes are three and two, but each node must be able to take three, so three are
// kept free on both.
TEST(NetworkPlan, PlannedStartKeepsAnEvenShareOfEachNode) {
  TestCluster cluster = fabric();
  for (const char* node : {"n2", "n3", "n5", "n6"}) occupy(cluster, node);
  JobSpec first = TestCluster::spec(4);
  first.required_nodes = {"n1"};
  first.time_limit = minutes(60);
  ASSERT_THAT(started_on(cluster, first), ElementsAre("n1"));

  JobSpec spec = TestCluster::spec(5, 2);
  spec.switches = 1;
  spec.time_limit = minutes(60);
  const JobKey head = cluster.submit(spec);
  JobSpec filler = TestCluster::spec(2);
  filler.time_limit = minutes(120);
  const JobKey too_large = cluster.submit(filler);
  filler.tasks = 1;
  const JobKey fits_beside = cluster.submit(filler);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(pending_of(plan, head));
  EXPECT_EQ(pending_of(plan, head)->expected_start, kNow + minutes(60));
  EXPECT_FALSE(start_of(plan, too_large));
  EXPECT_TRUE(start_of(plan, fits_beside));
  cluster.take(plan, kNow);
  EXPECT_EQ(pending_of(cluster.plan(kNow + minutes(1)), head)->expected_start, kNow + minutes(60));
}

TEST(NetworkPlan, EachSegmentIsInOneBlock) {
  TestCluster cluster = fabric(NetworkKind::block);
  occupy(cluster, "n6");
  JobSpec spec = gang(4);
  spec.segment = 2;
  EXPECT_THAT(started_on(cluster, spec), ElementsAre("n1", "n4", "n2", "n5"));
  TestCluster broken = fabric(NetworkKind::block);
  occupy(broken, "n6");
  occupy(broken, "n2");
  EXPECT_THAT(started_on(broken, spec), ElementsAre()) << "four nodes, but one whole segment";
}

// For a range of nodes: the largest number within the limits, in whole segments.
TEST(NetworkPlan, RangeGetsAsManyNodesAsTheLimitsAllow) {
  TestCluster cluster = fabric(NetworkKind::block);
  JobSpec spec = TestCluster::spec(1, 1);
  spec.max_nodes = 6;
  spec.switches = 1;
  EXPECT_THAT(started_on(cluster, spec), ElementsAre("n1", "n4"));
  spec.switches = 0;
  spec.segment = 2;
  spec.max_nodes = 5;
  spec.cpus_per_task = 2;
  EXPECT_EQ(started_on(cluster, spec).size(), 4u);
}

TEST(NetworkPlan, ChangedNetworkChangesThePlan) {
  TestCluster cluster = fabric();
  Planner planner;
  JobSpec spec = gang(2);
  spec.switches = 1;
  const JobKey key = cluster.submit(spec);
  EXPECT_THAT(node_names(cluster.state,
                         *start_of(planner.plan(cluster.state, cluster.policy, {}, kNow), key)),
              ElementsAre("n1", "n4"));
  NetworkSpec other{
      "net", NetworkKind::block, {{"a", {"n2", "n3"}, {}}, {"b", {"n1", "n4", "n5", "n6"}, {}}}};
  cluster.policy.networks = std::vector{other};
  EXPECT_THAT(node_names(cluster.state,
                         *start_of(planner.plan(cluster.state, cluster.policy, {}, kNow), key)),
              ElementsAre("n2", "n3"));
}

void label(TestCluster& cluster, const std::string& name, std::vector<std::string> features) {
  Node node = cluster.node(name);
  node.inventory.features = std::move(features);
  cluster.put(node);
}

// Six nodes in the racks that fabric() calls leaves.
TestCluster labelled() {
  TestCluster cluster = fabric();
  cluster.policy.networks =
      std::vector{NetworkSpec{"net", NetworkKind::tree, {}, {"zone", "rack"}}};
  for (int i = 1; i <= 6; ++i)
    label(cluster, "n" + std::to_string(i), {"zone=a", "rack=r" + std::to_string((i - 1) % 3)});
  return cluster;
}

TEST(NetworkByFeaturesPlan, IsThatOfANetworkWithTheSameLeaves) {
  TestCluster listed = fabric(), cluster = labelled();
  for (const std::uint32_t nodes : {2u, 4u}) {
    const auto names = started_on(listed, gang(nodes));
    EXPECT_EQ(started_on(cluster, gang(nodes)), names);
    EXPECT_EQ(names.size(), nodes);
  }
}

TEST(NetworkByFeaturesPlan, FollowsALabelThatChanges) {
  TestCluster cluster = labelled();
  for (const char* name : {"n4", "n5", "n6"}) label(cluster, name, {"zone=a"});
  JobSpec spec = gang(2);
  spec.switches = 1;
  const JobKey key = cluster.submit(spec);
  Planner planner;
  const auto start = [&] {
    const Plan plan = planner.plan(cluster.state, cluster.policy, {}, kNow);
    const Start* found = start_of(plan, key);
    return found ? node_names(cluster.state, *found) : std::vector<std::string>();
  };
  EXPECT_THAT(start(), ElementsAre()) << "no two nodes have a rack";
  label(cluster, "n5", {"zone=a", "rack=r2", "other=x"});
  EXPECT_THAT(start(), ElementsAre("n3", "n5"));
  label(cluster, "n5", {"zone=b", "rack=r2", "other=x"});
  EXPECT_THAT(start(), ElementsAre()) << "the same rack of another zone";
  label(cluster, "n5", {"zone=a", "rack=r0", "other=x"});
  EXPECT_THAT(start(), ElementsAre("n1", "n5"));
}

TEST(NetworkByFeaturesPlan, OfOtherLabelsTheIndexIsUpdated) {
  TestCluster cluster = labelled();
  ClusterIndex index(cluster.state, &cluster.policy.networks);
  const ClusterState before = cluster.state;
  label(cluster, "n1", {"zone=a", "rack=r0", "other=x"});
  EXPECT_TRUE(index.update(before, cluster.state, {}));
  const ClusterState then = cluster.state;
  label(cluster, "n1", {"zone=a", "rack=r1", "other=x"});
  EXPECT_FALSE(index.update(then, cluster.state, {}));
}

TEST(NetworkByFeaturesPlan, NodesWithoutALabelComeLast) {
  TestCluster cluster = labelled();
  for (const char* name : {"n1", "n4"}) label(cluster, name, {"rack=r0"});
  EXPECT_THAT(started_on(cluster, gang(2)), ElementsAre("n2", "n5"));
  EXPECT_THAT(started_on(cluster, gang(4)), ElementsAre("n3", "n6", "n1", "n4"));
}

TEST(Preferences, AreMetIfPossible) {
  TestCluster cluster;
  for (int i = 1; i <= 4; ++i) {
    cluster.add_node("n" + std::to_string(i));
    Node node = cluster.node("n" + std::to_string(i));
    node.inventory.features = {i >= 3 ? "fast" : "slow"};
    cluster.put(node);
  }
  JobSpec spec = gang(1);
  spec.prefer = "fast";
  EXPECT_THAT(started_on(cluster, spec), ElementsAre("n3"));
  JobSpec both = gang(2);
  both.prefer = "fast";
  EXPECT_THAT(started_on(cluster, both), ElementsAre("n1", "n4")) << "only n4 of the fast is left";
  EXPECT_THAT(started_on(cluster, spec), ElementsAre("n2"));
  EXPECT_THAT(started_on(cluster, spec), ElementsAre());
}

}  // namespace
}  // namespace ares::core::sched
