// Tests: cluster_index, demand, typed_demand, fit_layout, devices, expected_releases, reason_text
// Nodes that count thousandths of CPUs (Inventory::cpu_thousandths), as those of Kubernetes do, and jobs that request a
// fraction of a CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "core/sched/pass/plan_text.h"
#include "unit/sched/cluster.h"
#include "unit/sched/preemption.h"
#include "unit/sched/random_cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

void count_thousandths(Node& node, std::uint32_t thousandths) {
  node.inventory.cpu_thousandths = thousandths;
  node.inventory.cpus = std::max(thousandths / kWholeCpu, 1u);
}

void add_exact(TestCluster& cluster, const std::string& name, std::uint32_t thousandths) {
  cluster.add_node(name);
  Node node = cluster.node(name);
  count_thousandths(node, thousandths);
  cluster.put(node);
}

TestCluster exact_node(std::uint32_t thousandths) {
  TestCluster cluster;
  add_exact(cluster, "x", thousandths);
  return cluster;
}

// Of so many thousandths for each task.
JobSpec fraction(std::uint32_t thousandths, std::uint32_t tasks = 1, int limit = 60) {
  JobSpec spec = TestCluster::spec(tasks);
  spec.cpus_per_task = static_cast<std::uint32_t>(whole_cpus(thousandths));
  spec.cpu_thousandths_per_task = thousandths % kWholeCpu == 0 ? 0 : thousandths;
  spec.time_limit = minutes(limit);
  return spec;
}

const NodeShare& share_of(const Plan& plan, const JobKey& key) {
  return start_of(plan, key)->nodes.front();
}

TEST(CpuThousandths, EightJobsOf490FillANodeOf3920) {
  TestCluster cluster = exact_node(3920);
  std::vector<JobKey> jobs;
  for (int i = 0; i < 9; ++i) jobs.push_back(cluster.submit(fraction(490, 1, 30 + i)));
  const Plan plan = cluster.plan();
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(start_of(plan, jobs[i])) << i;
    EXPECT_EQ(share_of(plan, jobs[i]).cpus, 1u);
    EXPECT_EQ(share_of(plan, jobs[i]).cpu_thousandths, 490u);
    EXPECT_TRUE(share_of(plan, jobs[i]).cpu_ids.empty());
  }
  EXPECT_FALSE(start_of(plan, jobs[8]));
  cluster.take(plan, kNow);
  const Plan next = cluster.plan();
  const PendingInfo* waits = pending_of(next, jobs[8]);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->reason, Reason::resources);
  EXPECT_THAT(waits->detail, HasSubstr("needs 0.49 CPUs on 1 node"));
  EXPECT_THAT(waits->detail, HasSubstr("with too few free CPUs"));
  EXPECT_EQ(waits->expected_start, kNow + minutes(30));
  cluster.end(jobs[5]);
  EXPECT_TRUE(start_of(cluster.plan(), jobs[8]));
}

TEST(CpuThousandths, AJobOfWholeCpusTakesWholeOnes) {
  TestCluster cluster = exact_node(1500);
  const JobKey whole = cluster.submit(fraction(1000, 1, 30));
  cluster.take(cluster.plan(), kNow);
  ASSERT_EQ(cluster.state.jobs.find(whole)->state, JobState::running);
  const NodeShare& has = cluster.state.jobs.find(whole)->allocation->nodes.front();
  EXPECT_EQ(has.cpus, 1u);
  EXPECT_EQ(has.cpu_thousandths, 0u);
  const JobKey second = cluster.submit(fraction(1000));
  const Plan plan = cluster.plan();
  EXPECT_FALSE(start_of(plan, second)) << "half a CPU is left";
  EXPECT_EQ(pending_of(plan, second)->expected_start, kNow + minutes(30));
  const JobKey half = cluster.submit(fraction(500, 1, 20));
  EXPECT_TRUE(start_of(cluster.plan(), half)) << "before the second needs it";
}

TEST(CpuThousandths, OtherNodesGiveTheNextWholeNumber) {
  TestCluster cluster;
  cluster.add_node("n1", 4);
  add_exact(cluster, "x", 500);
  const auto on = [&](const char* node) {
    JobSpec spec = fraction(1250, 2);
    if (std::string_view(node) == "x") spec = fraction(500);
    spec.memory_per_cpu = Bytes::mib(100);
    spec.required_nodes = {node};
    return cluster.submit(spec);
  };
  const JobKey bare = on("n1"), exact = on("x");
  const Plan plan = cluster.plan();
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
  ASSERT_TRUE(start_of(plan, bare));
  EXPECT_EQ(share_of(plan, bare).cpus, 4u);
  EXPECT_EQ(share_of(plan, bare).cpu_thousandths, 0u);
  EXPECT_EQ(share_of(plan, bare).cpu_ids.size(), 4u);
  EXPECT_EQ(share_of(plan, bare).memory, Bytes::mib(400));
  ASSERT_TRUE(start_of(plan, exact));
  EXPECT_EQ(share_of(plan, exact).cpus, 1u);
  EXPECT_EQ(share_of(plan, exact).cpu_thousandths, 500u);
  EXPECT_EQ(share_of(plan, exact).memory, Bytes::mib(50));
}

TEST(CpuThousandths, TasksAreAddedUpBeforeTheyAreRounded) {
  TestCluster cluster = exact_node(3920);
  const JobKey three = cluster.submit(fraction(500, 3)), four = cluster.submit(fraction(500, 4));
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, three));
  EXPECT_EQ(share_of(plan, three).cpus, 2u);
  EXPECT_EQ(share_of(plan, three).cpu_thousandths, 1500u);
  ASSERT_TRUE(start_of(plan, four));
  EXPECT_EQ(share_of(plan, four).cpus, 2u);
  EXPECT_EQ(share_of(plan, four).cpu_thousandths, 0u);
}

TEST(CpuThousandths, AWholeNodeIsAllThatItHas) {
  TestCluster cluster = exact_node(3920);
  JobSpec spec = fraction(500);
  spec.exclusive = true;
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(share_of(plan, key).cpus, 4u);
  EXPECT_EQ(share_of(plan, key).cpu_thousandths, 3920u);
}

TEST(CpuThousandths, AFractionCountsOnlyBesideItsOwnNumberOfCpus) {
  TestCluster cluster = exact_node(3920);
  JobSpec spec = fraction(500);
  spec.cpus_per_task = 2;  // changed by a client that knows of no fractions
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(share_of(plan, key).cpus, 2u);
  EXPECT_EQ(share_of(plan, key).cpu_thousandths, 0u);
}

TEST(CpuThousandths, ThePartitionsLimitCountsThem) {
  TestCluster cluster = exact_node(3920);
  Partition main = cluster.partition();
  main.max_cpus_per_node = 1;
  cluster.put(main);
  const JobKey first = cluster.submit(fraction(600)), second = cluster.submit(fraction(400)),
               third = cluster.submit(fraction(100));
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, first));
  EXPECT_TRUE(start_of(plan, second));
  EXPECT_FALSE(start_of(plan, third));
}

TEST(CpuThousandths, AsManyVictimsAsItsAmountNeeds) {
  TestCluster cluster = exact_node(980);
  add_tiers(cluster);
  for (int i = 0; i < 2; ++i) cluster.submit(fraction(490));
  cluster.take(cluster.plan(kNow - minutes(10)), kNow - minutes(10));
  const auto victims = [&](std::uint32_t thousandths) {
    TestCluster beside = cluster;
    JobSpec spec = high_spec(1);
    spec.cpu_thousandths_per_task = thousandths;
    const JobKey key = beside.submit(spec);
    return victims_of(beside.plan(), key).size();
  };
  EXPECT_EQ(victims(490), 1u);
  EXPECT_EQ(victims(500), 2u);
}

// All CPUs of such a cluster are in another unit. Plans for other nodes must not depend on it.
TEST(CpuThousandths, PlansForOtherNodesStayTheSame) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    Node lonely = cluster.node("n1");  // in no partition
    lonely.id = cluster.state.next_node_id;
    lonely.name = "lonely";
    Time now = kNow;
    for (int step = 0; step < 8; ++step) {
      for (std::uint32_t i = dice.upto(5); i > 0; --i) submit_random(cluster, dice);
      TestCluster beside = cluster;
      Node exact = lonely;
      exact.inventory = {};
      exact.inventory.memory = Bytes::mib(1000);
      count_thousandths(exact, 3920);
      beside.put(exact);
      const Plan plan = cluster.plan(now);
      ASSERT_EQ(plan_text(beside.plan(now)), plan_text(plan))
          << "seed " << seed << " step " << step;
      cluster.take(plan, now);
      for (const JobKey& key : running(cluster))
        if (dice.percent(30)) cluster.end(key);
      now += minutes(dice.upto(20));
    }
  }
}

// With every kind of backfill, random jobs on nodes of both kinds. A planner that goes on plans what a new one does, also
// when nodes begin and cease to count thousandths.
TEST(CpuThousandths, NoNodeGivesMoreThanItHasAndNoJobIsForgotten) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random dice(seed);
    TestCluster cluster;
    cluster.add_node("n1", 4);
    add_exact(cluster, "x", 4000 + dice.upto(999));
    if (dice.percent(50)) add_exact(cluster, "y", 1 + dice.upto(4999));
    Planner planner;
    const auto next_job = [&] {
      JobSpec spec =
          fraction(1 + dice.upto(1999), 1 + dice.upto(1), 1 + static_cast<int>(dice.upto(30)));
      if (dice.percent(30)) spec.memory_per_cpu = Bytes::mib(1 + dice.upto(999));
      return spec;
    };
    const auto change_node = [&] {
      Node node = cluster.node("x");
      if (!dice.percent(5) || !node.charges.empty()) return;
      node.inventory.cpu_thousandths = node.inventory.cpu_thousandths > 0 ? 0 : 4500;
      node.inventory.cpus = 4;
      node.version = node.version.next();
      cluster.put(node);
    };
    const auto is_planned_anew = [&](const Plan& plan, Time now) {
      EXPECT_EQ(plan_text(planner.plan(cluster.state, cluster.policy, {}, now)), plan_text(plan));
    };
    expect_all_run(cluster, dice,
                   {.next_job = next_job, .before_plan = change_node, .on_plan = is_planned_anew});
  }
}

}  // namespace
}  // namespace ares::core::sched
