// Tests: cluster_index, typed_demand, fit_layout, expected_releases, decide_plan
// Partitions that limit the CPUs of their jobs on each node (max_cpus_per_node).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "core/sched/index/cluster_index.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

// Partitions a, whose jobs get at most `most` CPUs of a node, and main share the nodes.
TestCluster shared_nodes(std::uint32_t nodes, std::uint32_t cpus, std::uint32_t most) {
  TestCluster cluster;
  for (std::uint32_t i = 1; i <= nodes; ++i) cluster.add_node("n" + std::to_string(i), cpus);
  Partition limited = cluster.partition();
  limited.name = "a";
  limited.is_default = false;
  limited.max_cpus_per_node = most;
  cluster.put(limited);
  return cluster;
}

JobSpec job_in(const std::string& partition, std::uint32_t tasks, int limit = 60) {
  JobSpec spec = TestCluster::spec(tasks);
  spec.partitions = {partition};
  spec.time_limit = minutes(limit);
  return spec;
}

TEST(CpuShare, JobsOfThePartitionGetNoMoreAndOthersTheRest) {
  TestCluster cluster = shared_nodes(1, 4, 2);
  const JobKey first = cluster.submit(job_in("a", 1)), second = cluster.submit(job_in("a", 1)),
               third = cluster.submit(job_in("a", 1)), other = cluster.submit(job_in("main", 2));
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, first));
  EXPECT_TRUE(start_of(plan, second));
  EXPECT_FALSE(start_of(plan, third));
  EXPECT_EQ(pending_of(plan, third)->reason, Reason::resources);
  EXPECT_TRUE(start_of(plan, other)) << "the CPUs that a may not use";
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
}

TEST(CpuShare, WaitingJobIsExpectedWhenTheShareIsFreeAgain) {
  TestCluster cluster = shared_nodes(1, 4, 2);
  cluster.policy.backfill = {BackfillKind::easy, 1};
  const JobKey running = cluster.submit(job_in("a", 2, 30));
  cluster.take(cluster.plan(), kNow);
  const JobKey waiting = cluster.submit(job_in("a", 2, 30));
  const JobKey longer = cluster.submit(job_in("main", 2, 600));
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, waiting)->expected_start, kNow + minutes(30));
  EXPECT_TRUE(start_of(plan, longer)) << "it takes nothing that the planned start needs";
  EXPECT_EQ(cluster.state.jobs.find(running)->state, JobState::running);
}

TEST(CpuShare, SeveralNodesHaveAShareEach) {
  TestCluster cluster = shared_nodes(3, 4, 1);
  JobSpec wide = job_in("a", 3);
  wide.max_nodes = 0;
  wide.min_nodes = 1;
  wide.max_nodes = 3;
  const JobKey key = cluster.submit(wide);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(start_of(plan, key)->nodes.size(), 3u);
}

TEST(CpuShare, AJobForMoreThanTheShareNeverStarts) {
  TestCluster cluster = shared_nodes(2, 4, 2);
  const JobKey large = cluster.submit(job_in("a", 3));
  JobSpec whole = job_in("a", 1);
  whole.exclusive = true;
  const JobKey exclusive = cluster.submit(whole);
  const Plan plan = cluster.plan();
  EXPECT_FALSE(start_of(plan, large));
  EXPECT_FALSE(start_of(plan, exclusive));
  TestCluster none = shared_nodes(1, 4, 0);
  const JobKey any = none.submit(job_in("a", 1)), other = none.submit(job_in("main", 4));
  EXPECT_FALSE(start_of(none.plan(), any));
  EXPECT_TRUE(start_of(none.plan(), other));
}

// Lowered while its jobs have more: nothing is promised before they have given back enough.
TEST(CpuShare, LoweredLimitCountsWhatRuns) {
  TestCluster cluster = shared_nodes(1, 4, 3);
  cluster.submit(job_in("a", 1, 10));
  cluster.submit(job_in("a", 1, 20));
  cluster.submit(job_in("a", 1, 30));
  cluster.take(cluster.plan(), kNow);
  Partition limited = cluster.partition("a");
  limited.max_cpus_per_node = 1;
  cluster.put(limited);
  const JobKey next = cluster.submit(job_in("a", 1));
  const Plan plan = cluster.plan();
  EXPECT_FALSE(start_of(plan, next));
  EXPECT_EQ(pending_of(plan, next)->expected_start, kNow + minutes(30));
  EXPECT_TRUE(start_of(cluster.plan(), cluster.submit(job_in("main", 1))));
}

// The CPUs that each partition's jobs have on each node.
std::map<std::pair<std::string, NodeId>, std::uint64_t> use_of(const ClusterState& state) {
  std::map<std::pair<std::string, NodeId>, std::uint64_t> use;
  state.nodes.for_each([&](NodeId id, const Node& node) {
    for (const Charge& charge : node.charges)
      use[{state.jobs.find(charge.attempt.job)->allocation->partition, id}] += charge.cpus;
  });
  return use;
}

// With every kind of backfill, random jobs of three partitions keep all limits, and all jobs that
// fit into an empty cluster run in the end.
TEST(CpuShare, NoLimitIsExceededAndNoJobIsForgotten) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random dice(seed);
    TestCluster cluster = shared_nodes(1 + dice.upto(2), 4, 1 + dice.upto(2));
    Partition second = cluster.partition("a");
    second.name = "b";
    second.max_cpus_per_node = 1 + dice.upto(3);
    cluster.put(second);
    constexpr BackfillKind kKinds[] = {BackfillKind::none, BackfillKind::easy,
                                       BackfillKind::conservative};
    cluster.policy.backfill = {kKinds[dice.upto(2)], 1};
    std::vector<JobKey> running;
    std::size_t ran = 0, submitted = 0;
    Time now = kNow;
    for (int step = 0; step < 120; ++step) {
      const char* const names[] = {"main", "a", "b"};
      if (submitted < 40 && dice.percent(60)) {
        const std::string partition = names[dice.upto(2)];
        const auto most = cluster.partition(partition).max_cpus_per_node.value_or(4);
        cluster.submit(
            job_in(partition, 1 + dice.upto(most - 1), 1 + static_cast<int>(dice.upto(30))));
        ++submitted;
      }
      const Plan plan = cluster.plan(now);
      ASSERT_EQ(over_commitment(cluster.state, plan), "") << "seed " << seed;
      for (const PlanGroup& group : plan.groups)
        for (const Start& start : group.starts) running.push_back(start.key);
      cluster.take(plan, now);
      for (const auto& [where, cpus] : use_of(cluster.state)) {
        const auto most = cluster.partition(where.first).max_cpus_per_node;
        ASSERT_LE(cpus, most.value_or(4)) << "seed " << seed << ", partition " << where.first;
      }
      if (!running.empty() && dice.percent(70)) {
        const std::size_t at = dice.upto(running.size() - 1);
        cluster.end(running[at]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
        ++ran;
      }
      now += minutes(1);
    }
    while (!running.empty()) {
      cluster.end(running.back());
      running.pop_back();
      ++ran;
      const Plan plan = cluster.plan(now);
      for (const PlanGroup& group : plan.groups)
        for (const Start& start : group.starts) running.push_back(start.key);
      cluster.take(plan, now);
    }
    EXPECT_EQ(ran, submitted) << "seed " << seed;
  }
}

// The index that a planner keeps equals a new one.
TEST(CpuShare, KeptIndexFollowsStartsAndEnds) {
  TestCluster cluster = shared_nodes(2, 4, 2);
  ClusterIndex kept(cluster.state);
  const auto column = kept.cpu_share_column("a");
  ASSERT_TRUE(column);
  EXPECT_EQ(kept.nodes()[0].free[*column], 2);
  const ClusterState before = cluster.state;
  const JobKey key = cluster.submit(job_in("a", 2));
  cluster.take(cluster.plan(), kNow);
  const ClusterState started = cluster.state;
  ASSERT_TRUE(kept.update(before, started, {}));
  EXPECT_EQ(kept.nodes()[0].free[*column], 0);
  EXPECT_EQ(kept.nodes()[0].free[kCpus], 2);
  cluster.end(key);
  ASSERT_TRUE(kept.update(started, cluster.state, {}));
  EXPECT_EQ(kept.nodes()[0].free[*column], 2);
}

}  // namespace
}  // namespace ares::core::sched
