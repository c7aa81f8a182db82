// Tests: cluster_index, demand, fit_layout, expected_releases, reason_text, change_kinds
// Jobs that ask for temporary storage (JobSpec::tmp_disk) on nodes that know their own (Inventory::tmp_disk).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "core/sched/why/explanation.h"
#include "unit/sched/cluster.h"
#include "unit/sched/preemption.h"
#include "unit/sched/random_cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kCpusEach = 8;

// Nodes n1, n2, ... of which each has so much; none: they do not know it.
TestCluster nodes_with_storage(std::uint32_t nodes, std::optional<Bytes> each) {
  TestCluster cluster;
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.add_node(name, kCpusEach);
    Node node = cluster.node(name);
    node.inventory.tmp_disk = each;
    cluster.put(node);
  }
  return cluster;
}

JobSpec storing(Bytes size, int limit = 60) {
  JobSpec spec = TestCluster::spec(1);
  spec.time_limit = minutes(limit);
  spec.tmp_disk = size;
  return spec;
}

TEST(TmpDisk, JobsThatNeedMoreThanANodeHasRunOneAfterTheOther) {
  TestCluster cluster = nodes_with_storage(1, Bytes::gib(10));
  const JobKey first = cluster.submit(storing(Bytes::gib(6), 30)),
               second = cluster.submit(storing(Bytes::gib(6))),
               other = cluster.submit(storing(Bytes{}));
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, first));
  EXPECT_FALSE(start_of(plan, second));
  EXPECT_TRUE(start_of(plan, other)) << "it asks for none";
  cluster.take(plan, kNow);
  const Plan next = cluster.plan();
  const PendingInfo* waits = pending_of(next, second);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->reason, Reason::resources);
  EXPECT_THAT(waits->detail,
              AllOf(HasSubstr("needs 1 CPU, 6G of temporary storage a node on 1 node"),
                    HasSubstr("1 node with too little free temporary storage (at most 4G)")));
  EXPECT_EQ(waits->expected_start, kNow + minutes(30));
  cluster.end(first);
  EXPECT_TRUE(start_of(cluster.plan(), second));
}

TEST(TmpDisk, NodesThatDoNotKnowTheirOwnTakeAny) {
  TestCluster cluster = nodes_with_storage(1, Bytes::gib(1));
  cluster.add_node("unknown", kCpusEach);
  std::vector<JobKey> jobs;
  for (std::uint32_t i = 0; i < kCpusEach; ++i)
    jobs.push_back(cluster.submit(storing(Bytes::gib(900))));
  const Plan plan = cluster.plan();
  for (const JobKey& key : jobs) {
    ASSERT_TRUE(start_of(plan, key));
    EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ElementsAre("unknown"));
  }
}

TEST(TmpDisk, NoNodeKnowsItsOwnAndAllIsPlannedAsWithout) {
  TestCluster with = nodes_with_storage(2, std::nullopt),
              without = nodes_with_storage(2, std::nullopt);
  for (int i = 0; i < 12; ++i) {
    JobSpec spec = storing(Bytes::gib(i), 10 + i);
    spec.tasks = 1 + static_cast<std::uint32_t>(i) % 5;
    with.submit(spec);
    spec.tmp_disk = {};
    without.submit(spec);
  }
  const Plan a = with.plan(), b = without.plan();
  ASSERT_EQ(a.groups.size(), b.groups.size());
  for (std::size_t i = 0; i < a.groups.size(); ++i) {
    ASSERT_EQ(a.groups[i].starts.size(), b.groups[i].starts.size());
    for (std::size_t j = 0; j < a.groups[i].starts.size(); ++j)
      EXPECT_EQ(a.groups[i].starts[j].nodes, b.groups[i].starts[j].nodes);
  }
}

TEST(TmpDisk, EachNodeOfAJobHasTheAmount) {
  TestCluster cluster = nodes_with_storage(3, Bytes::gib(10));
  JobSpec one = storing(Bytes::gib(5));
  one.required_nodes = {"n2"};
  cluster.submit(one);
  cluster.take(cluster.plan(), kNow);
  JobSpec two = storing(Bytes::gib(6));
  two.tasks = two.min_nodes = two.max_nodes = 2;
  const JobKey key = cluster.submit(two);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ElementsAre("n1", "n3"));
  cluster.take(plan, kNow);
  for (const char* name : {"n1", "n3"})
    EXPECT_EQ(cluster.node(name).charges.front().tmp_disk, Bytes::gib(6));
}

// Amounts are counted in whole MiB, rounded in favour of the node.
TEST(TmpDisk, PartsOfAMebibyteCountAsOne) {
  TestCluster cluster = nodes_with_storage(1, Bytes::mib(2) + Bytes::kib(1000));
  const JobKey first = cluster.submit(storing(Bytes::kib(1))),
               second = cluster.submit(storing(Bytes::kib(1))),
               third = cluster.submit(storing(Bytes::kib(1)));
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, first));
  EXPECT_TRUE(start_of(plan, second));
  EXPECT_FALSE(start_of(plan, third));
}

TEST(TmpDisk, AJobEndsForItsStorageAlone) {
  TestCluster cluster = nodes_with_storage(1, Bytes::gib(10));
  add_tiers(cluster);
  const JobKey low = cluster.submit(storing(Bytes::gib(6), 24 * 60));
  cluster.take(cluster.plan(), kNow - hours(1));
  JobSpec spec = high_spec(1);
  spec.tmp_disk = Bytes::gib(6);
  const JobKey high = cluster.submit(spec);
  EXPECT_THAT(victims_of(cluster.plan(), high), ElementsAre(low));
}

TEST(TmpDisk, ASuspendedJobKeepsItsStorage) {
  TestCluster cluster = nodes_with_storage(1, Bytes::gib(10));
  add_tiers(cluster, PreemptMode::suspend);
  const JobKey low = cluster.submit(storing(Bytes::gib(6), 24 * 60));
  cluster.take(cluster.plan(), kNow - hours(1));
  cluster.suspend(low, kNow);
  const JobKey second = cluster.submit(storing(Bytes::gib(6)));
  EXPECT_FALSE(start_of(cluster.plan(), second));
  cluster.end(low);
  EXPECT_TRUE(start_of(cluster.plan(), second));
}

TEST(TmpDisk, AnExplanationSaysHowMuchWouldFit) {
  TestCluster cluster = nodes_with_storage(1, Bytes::gib(10));
  cluster.submit(storing(Bytes::gib(6)));
  cluster.take(cluster.plan(), kNow);
  const JobKey key = cluster.submit(storing(Bytes::gib(6), 30));
  const Plan plan = cluster.plan();
  const JobExplanation told = explain_job(
      cluster.state, cluster.policy, *cluster.state.jobs.find(key), plan.pending.find(key), kNow);
  std::vector<std::string> changes;
  for (const auto& change : told.changes) changes.push_back(change.text);
  EXPECT_THAT(changes, Contains("--tmp=4G"));
}

TEST(TmpDisk, APlannerFollowsANodeThatBeginsToCount) {
  TestCluster cluster = nodes_with_storage(1, std::nullopt);
  const JobKey first = cluster.submit(storing(Bytes::gib(6))),
               second = cluster.submit(storing(Bytes::gib(6)));
  Planner planner;
  EXPECT_TRUE(start_of(planner.plan(cluster.state, cluster.policy, {}, kNow), second));
  Node node = cluster.node("n1");
  node.inventory.tmp_disk = Bytes::gib(10);
  cluster.put(node);
  const Plan counted = planner.plan(cluster.state, cluster.policy, {}, kNow);
  EXPECT_TRUE(start_of(counted, first));
  EXPECT_FALSE(start_of(counted, second));
  node.inventory.tmp_disk.reset();
  cluster.put(node);
  EXPECT_TRUE(start_of(planner.plan(cluster.state, cluster.policy, {}, kNow), second));
}

TEST(TmpDisk, NoNodeGivesMoreThanItHasAndNoJobIsForgotten) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random dice(seed);
    constexpr Bytes kMost = Bytes::gib(10);
    TestCluster cluster = nodes_with_storage(1 + dice.upto(2), kMost);
    expect_all_run(cluster, dice,
                   {.next_job =
                        [&] {
                          JobSpec spec =
                              storing(Bytes::mib(static_cast<std::int64_t>(dice.upto(10 * 1024))),
                                      1 + static_cast<int>(dice.upto(30)));
                          spec.tasks = 1 + dice.upto(kCpusEach - 1);
                          return spec;
                        },
                    .after_start =
                        [&] {
                          cluster.state.nodes.for_each([&](NodeId, const Node& node) {
                            Bytes used{};
                            for (const Charge& charge : node.charges) used += charge.tmp_disk;
                            EXPECT_LE(used, kMost) << node.name;
                          });
                        }});
  }
}

}  // namespace
}  // namespace ares::core::sched
