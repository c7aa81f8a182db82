// Tests: machines
// Jobs that request links between their GPUs: they start on such GPUs or wait, their reasons
// contain numbers, and they start eventually.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sched/why/explainer.h"
#include "core/topology/parsed_topology.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

// NVLinks connect 0 with 1 and 2 with 3.
constexpr const char* kPairs =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\tX\tNV4\tSYS\tSYS\t0-3\t0\n"
    "GPU1\tNV4\tX\tSYS\tSYS\t0-3\t0\n"
    "GPU2\tSYS\tSYS\tX\tNV4\t4-7\t1\n"
    "GPU3\tSYS\tSYS\tNV4\tX\t4-7\t1\n";

class GpuLinks : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& text = kPairs) {
    cluster.add_node(name, 8);
    Node node = cluster.node(name);
    topology::ParsedTopology parsed = topology::read_topology(text, "a100").value();
    node.inventory.gpus = std::move(parsed.gpus);
    node.inventory.gpu_topology = std::move(parsed.topology);
    cluster.put(std::move(node));
  }
  static JobSpec gpus(std::uint32_t count, GpuConstraint constraint = {}, int limit = 60) {
    JobSpec spec = TestCluster::spec();
    spec.gpus_per_node = {{"", count}};
    spec.gpu_constraint = constraint;
    spec.time_limit = minutes(limit);
    return spec;
  }
  // Starts the job now; returns its GPUs on its first node.
  std::vector<GpuIndex> start(JobSpec spec, Time now = kNow) {
    last = cluster.submit(std::move(spec));
    const Plan plan = cluster.plan(now);
    EXPECT_EQ(over_commitment(cluster.state, plan), "");
    const Start* start = start_of(plan, last);
    if (!start) return {};
    std::vector<GpuIndex> gpus = start->nodes.front().gpus;
    cluster.take(plan, now);
    return gpus;
  }

  TestCluster cluster;
  JobKey last;
};

constexpr GpuConstraint kLinked{GpuShape::nvlink, 0};

TEST_F(GpuLinks, JobGetsTheBestFreeGpusAndTheNearestCpus) {
  add("n1");
  EXPECT_THAT(start(gpus(1)), ElementsAre(GpuIndex(0)));
  const JobKey job = cluster.submit(gpus(2));
  const Plan plan = cluster.plan();
  EXPECT_THAT(start_of(plan, job)->nodes[0].gpus, ElementsAre(GpuIndex(2), GpuIndex(3)));
  EXPECT_THAT(start_of(plan, job)->nodes[0].cpu_ids, ElementsAre(4));
}

TEST_F(GpuLinks, WaitsWhileOnlyUnlinkedGpusAreFree) {
  add("n1");
  std::vector<JobKey> single;
  for (std::uint16_t gpu = 0; gpu < 4; ++gpu) {
    EXPECT_THAT(start(gpus(1)), ElementsAre(GpuIndex(gpu)));
    single.push_back(last);
  }
  cluster.end(single[0]);
  cluster.end(single[2]);
  const JobKey waits = cluster.submit(gpus(2, kLinked));
  Plan plan = cluster.plan();
  ASSERT_FALSE(start_of(plan, waits));
  EXPECT_EQ(pending_of(plan, waits)->reason, Reason::resources);
  EXPECT_THAT(
      pending_of(plan, waits)->detail,
      HasSubstr("2 GPUs of one type a node with --gpu-topology=nvlink on 1 node: 1 node with "
                "too few free GPUs so linked (at most 1 together)"));
  EXPECT_EQ(pending_of(plan, waits)->expected_start, kNow + minutes(60));
  EXPECT_EQ(Explainer(cluster.state, cluster.policy)
                .explain(*cluster.state.jobs.find(waits), kNow)
                .detail,
            pending_of(plan, waits)->detail);
  cluster.end(single[3]);
  plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, waits));
  EXPECT_THAT(start_of(plan, waits)->nodes[0].gpus, ElementsAre(GpuIndex(2), GpuIndex(3)));
}

// Two jobs of one pass: the second must not get the pair that the first has just taken.
TEST_F(GpuLinks, PassExcludesGpusThatItAllocated) {
  add("n1");
  start(gpus(1));
  const JobKey first = cluster.submit(gpus(2, kLinked)), second = cluster.submit(gpus(2, kLinked));
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, first));
  EXPECT_FALSE(start_of(plan, second));
}

TEST_F(GpuLinks, OtherNodesAreTried) {
  add("n1", "\tGPU0\tGPU1\nGPU0\tX\tSYS\nGPU1\tSYS\tX\n");
  cluster.add_node("n2", 8);
  // It reports no links.
  cluster.add_gpus("n2", "a100", 4);
  add("n3");
  const JobKey job = cluster.submit(gpus(2, kLinked));
  const Plan plan = cluster.plan();
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, job)), ElementsAre("n3"));
  JobSpec one = gpus(1, {GpuShape::pcie_switch, 0});
  one.required_nodes = {"n2"};
  const JobKey alone = cluster.submit(one);
  EXPECT_TRUE(start_of(cluster.plan(), alone)) << "one GPU keeps every constraint";
}

TEST_F(GpuLinks, ImpossibleConstraintIsReported) {
  add("n1");
  const JobKey job = cluster.submit(gpus(3, kLinked));
  const JobKey weak = cluster.submit(gpus(2, {GpuShape::any, 5}));
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, job)->reason, Reason::bad_constraints);
  EXPECT_THAT(pending_of(plan, job)->detail,
              HasSubstr("3 GPUs of one type a node with --gpu-topology=nvlink on 1 node, which "
                        "partition main never has"));
  EXPECT_THAT(pending_of(plan, weak)->detail, HasSubstr("with --min-nvlink=5"));
}

TEST_F(GpuLinks, EachOfSeveralNodesMeetsTheConstraint) {
  add("n1");
  add("n2");
  JobSpec total = TestCluster::spec(2, 2);
  total.gpus_total = {{"a100", 4}};
  total.gpu_constraint = kLinked;
  total.time_limit = minutes(60);
  const JobKey gang = cluster.submit(total);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, gang));
  for (const NodeShare& share : start_of(plan, gang)->nodes) EXPECT_EQ(share.gpus.size(), 2u);
  total.gpus_total = {{"a100", 5}};
  const JobKey more = cluster.submit(total);
  EXPECT_EQ(pending_of(cluster.plan(), more)->reason, Reason::bad_constraints);
}

TEST_F(GpuLinks, WholeNodesNeedAllTheirGpusLinked) {
  add("n1");
  add("n2", "\tGPU0\tGPU1\nGPU0\tX\tNV2\nGPU1\tNV2\tX\n");
  JobSpec whole = gpus(2, kLinked);
  whole.exclusive = true;
  const JobKey job = cluster.submit(whole);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, job));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, job)), ElementsAre("n2"));
}

// At the planned time the freed GPUs are not linked; later jobs must not split the pair for ever.
TEST_F(GpuLinks, JobStartsThoughOtherJobsKeepArriving) {
  add("n1");
  std::vector<std::pair<Time, JobKey>> running;  // by end
  Time now = kNow;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(start(gpus(1, {}, 60 + 7 * i)).size(), 1u);
    running.emplace_back(kNow + minutes(60 + 7 * i), last);
  }
  const JobKey pair = cluster.submit(gpus(2, kLinked, 60));
  for (int round = 0; round < 40; ++round) {
    cluster.submit(gpus(1, {}, 30 + 11 * (round % 5)));
    const Plan plan = cluster.plan(now);
    ASSERT_EQ(over_commitment(cluster.state, plan), "");
    if (const Start* start = start_of(plan, pair)) {
      EXPECT_LE(now, kNow + minutes(60 + 7 * 3)) << "as soon as the first four are over";
      EXPECT_EQ(start->nodes[0].gpus[0].value() / 2, start->nodes[0].gpus[1].value() / 2);
      return;
    }
    for (const PlanGroup& group : plan.groups)
      for (const Start& start : group.starts)
        running.emplace_back(now + *start.time_limit, start.key);
    cluster.take(plan, now);
    const auto next = std::min_element(running.begin(), running.end());
    now = next->first;
    cluster.end(next->second);
    running.erase(next);
  }
  FAIL() << "it never started";
}

// Which differences matter to the node search and which do not.
TEST_F(GpuLinks, AnotherConstraintIsAnotherJobClass) {
  add("n1");
  start(gpus(1));
  start(gpus(1, {}, 30));
  const JobKey never = cluster.submit(gpus(3, kLinked)), later = cluster.submit(gpus(3)),
               now = cluster.submit(gpus(2, kLinked, 10));
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, never)->reason, Reason::bad_constraints);
  EXPECT_EQ(pending_of(plan, later)->reason, Reason::resources);
  EXPECT_TRUE(start_of(plan, now));
}

}  // namespace
}  // namespace ares::core::sched
