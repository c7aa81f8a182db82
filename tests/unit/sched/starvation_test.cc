// Tests: joint_start, preemptor, devices
// A gang that cannot start now neither keeps others from starting nor ends jobs for nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sched/pass/plan_text.h"
#include "core/topology/parsed_topology.h"
#include "unit/sched/preemption.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;

JobSpec as_member(JobSpec spec, std::uint32_t size, const std::string& gang) {
  spec.gang = GangRequest{gang, size, 0, std::nullopt};
  spec.time_limit = hours(1);
  return spec;
}

std::vector<JobKey> submit_gang(TestCluster& cluster, std::uint32_t size, const JobSpec& spec,
                                const std::string& gang = "train") {
  std::vector<JobKey> keys;
  for (std::uint32_t i = 0; i < size; ++i)
    keys.push_back(cluster.submit(as_member(spec, size, gang)));
  return keys;
}

TestCluster nodes(int count) {
  TestCluster cluster;
  for (int i = 1; i <= count; ++i) cluster.add_node("n" + std::to_string(i), 4);
  add_tiers(cluster);
  return cluster;
}

void put_on_trial(TestCluster& cluster, const std::string& name) {
  Node node = cluster.node(name);
  node.guard.on_trial = true;
  cluster.put(std::move(node));
}

// The engine takes one job at a time on such a node.
TEST(Starvation, ANodeOnTrialGetsOneMemberOrOneJob) {
  TestCluster cluster = nodes(1);
  put_on_trial(cluster, "n1");
  submit_gang(cluster, 2, TestCluster::spec(2));
  const JobKey behind = cluster.submit(TestCluster::spec(1)),
               second = cluster.submit(TestCluster::spec(1));
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, behind)) << plan_text(plan);
  EXPECT_FALSE(start_of(plan, second));
  EXPECT_EQ(plan.groups.size(), 1u);
}

TEST(Starvation, NoJobEndsForAGangThatANodeOnTrialCannotTake) {
  for (const bool on_trial : {false, true}) {
    TestCluster cluster = nodes(1);
    run(cluster, {"n1"}, 4);
    if (on_trial) put_on_trial(cluster, "n1");
    submit_gang(cluster, 2, high_spec(2));
    EXPECT_EQ(cluster.plan().groups.empty(), on_trial);
  }
}

// NVLinks connect only two of the four GPUs.
TEST(Starvation, NoJobEndsForAGangWhoseMembersCannotAllHaveLinkedGpus) {
  constexpr const char* kOnePair =
      "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\tX\tNV4\tSYS\tSYS\t0-3\t0\n"
      "GPU1\tNV4\tX\tSYS\tSYS\t0-3\t0\n"
      "GPU2\tSYS\tSYS\tX\tSYS\t0-3\t0\n"
      "GPU3\tSYS\tSYS\tSYS\tX\t0-3\t0\n";
  for (const std::uint32_t members : {1u, 2u}) {
    TestCluster cluster = nodes(1);
    Node node = cluster.node("n1");
    topology::ParsedTopology parsed = topology::read_topology(kOnePair, "a100").value();
    node.inventory.gpus = std::move(parsed.gpus);
    node.inventory.gpu_topology = std::move(parsed.topology);
    cluster.put(std::move(node));
    run(cluster, {"n1"}, 4);
    JobSpec spec = high_spec(1);
    spec.gpus_per_node = {{"", 2}};
    spec.gpu_constraint = GpuConstraint{GpuShape::nvlink, 0};
    const auto gang = submit_gang(cluster, members, spec);
    const Plan plan = cluster.plan();
    EXPECT_EQ(plan.groups.empty(), members == 2) << plan_text(plan);
    cluster.plan();
  }
}

TEST(Starvation, GangsWithoutVictimsLeaveSearchesToJobsBehindThem) {
  TestCluster cluster = nodes(2);
  const JobKey victim = run(cluster, {"n1"}, 4);
  run(cluster, {"n2"}, 4, kNow - hours(1), "high");
  for (int i = 0; i < 20; ++i) submit_gang(cluster, 2, high_spec(4), "gang" + std::to_string(i));
  const JobKey behind = cluster.submit(high_spec(4));
  EXPECT_THAT(victims_of(cluster.plan(), behind), testing::ElementsAre(victim));
}

// The search for the time at which a large gang fits would cost more than the whole pass may: with members of different limits
// even that for the members one by one.
TEST(Starvation, AGangDoesNotSpendTheBudgetOfThePass) {
  constexpr std::uint32_t kNodes = 40;
  for (const bool alike : {true, false}) {
    TestCluster cluster = nodes(kNodes);
    for (std::uint32_t i = 1; i <= kNodes; ++i)
      run(cluster, {"n" + std::to_string(i)}, i < kNodes ? 4 : 3, kNow - hours(1), "main",
          hours(2 + i));
    // Its planned start makes free amounts fall, so that times are tried one by one.
    cluster.policy.backfill.kind = BackfillKind::conservative;
    cluster.submit(high_spec(4 * kNodes / 2, kNodes / 2));
    std::vector<JobKey> gang;
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      JobSpec member = TestCluster::spec(4);
      member.gang = GangRequest{"wide", kNodes, 0, std::nullopt};
      member.time_limit = hours(1) + std::chrono::minutes(alike ? 0 : i);
      gang.push_back(cluster.submit(member));
    }
    JobSpec small = TestCluster::spec(1);
    small.time_limit = std::chrono::minutes(1);
    small.nice = 1000;
    const JobKey behind = cluster.submit(small);
    const Plan plan = cluster.plan(kNow, Budget{20'000});
    EXPECT_TRUE(start_of(plan, behind)) << alike << plan_text(plan);
    const PendingInfo* waits = pending_of(plan, gang.front());
    ASSERT_TRUE(waits);
    EXPECT_TRUE(waits->expected_start)
        << alike << ": at the latest when all running jobs have ended";
  }
}

}  // namespace
}  // namespace ares::core::sched
