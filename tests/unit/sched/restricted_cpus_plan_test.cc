// Tests: cluster_index, indexed_node, devices, unrestricted_cpus, expected_releases, preemptor, resumer
// Nodes that keep cores for jobs with GPUs (restricted_cores_per_gpu).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sched/index/cluster_index.h"
#include "core/topology/parsed_topology.h"
#include "unit/sched/preemption.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::uint32_t>;

constexpr const char* kSockets =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\tX\tPIX\tSYS\tSYS\t0-5\t0\n"
    "GPU1\tPIX\tX\tSYS\tSYS\t0-5\t0\n"
    "GPU2\tSYS\tSYS\tX\tPIX\t6-11\t1\n"
    "GPU3\tSYS\tSYS\tPIX\tX\t6-11\t1\n";

// Nodes of two sockets with six cores and two GPUs each. For jobs with GPUs they keep 0-3 and 6-9.
class RestrictedCpusPlan : public testing::Test {
 protected:
  RestrictedCpusPlan() { add("n1"); }

  void add(const std::string& name) {
    cluster.add_node(name, 12);
    Node node = cluster.node(name);
    topology::ParsedTopology parsed = topology::read_topology(kSockets, "a100").value();
    node.inventory.gpus = std::move(parsed.gpus);
    node.inventory.gpu_topology = std::move(parsed.topology);
    node.inventory.cpu_layout = SharedText("0.0:0-5;1.1:6-11");
    node.inventory.restricted_cores_per_gpu = 2;
    cluster.put(std::move(node));
  }
  void keep(std::uint32_t cores, const std::string& name = "n1") {
    Node node = cluster.node(name);
    node.inventory.restricted_cores_per_gpu = cores;
    cluster.put(std::move(node));
  }
  static JobSpec job(std::uint32_t cpus, std::uint32_t gpus = 0, int limit = 60) {
    JobSpec spec = TestCluster::spec(cpus);
    if (gpus > 0) spec.gpus_per_node = {{"", gpus}};
    spec.time_limit = minutes(limit);
    return spec;
  }
  // Starts the job if it can start now; returns its CPUs on its first node.
  Ids start(JobSpec spec, Time now = kNow) {
    last = cluster.submit(std::move(spec));
    const Plan plan = cluster.plan(now);
    EXPECT_EQ(over_commitment(cluster.state, plan), "");
    const Start* start = start_of(plan, last);
    if (!start) {
      if (const PendingInfo* info = pending_of(plan, last)) waits = *info;
      return {};
    }
    Ids ids = start->nodes.front().cpu_ids;
    cluster.take(plan, now);
    return ids;
  }
  // The job that does not start is cancelled.
  void give_up() {
    Job job = *cluster.state.jobs.find(last);
    job.state = JobState::cancelled;
    cluster.put(std::move(job));
  }
  // A running job with these devices of n1.
  void hold(Ids ids, const std::vector<std::uint16_t>& gpus, int limit, Bytes memory = {}) {
    JobSpec spec =
        job(static_cast<std::uint32_t>(ids.size()), static_cast<std::uint32_t>(gpus.size()), limit);
    Job record = cluster.job(spec);
    NodeShare share;
    share.node = cluster.node("n1").id;
    share.incarnation = 7;
    share.cpus = share.tasks = static_cast<std::uint32_t>(ids.size());
    share.cpu_ids = std::move(ids);
    share.memory = memory;
    for (const std::uint16_t gpu : gpus) share.gpus.emplace_back(gpu);
    PlanGroup group;
    group.jobs.emplace_back(record.key, record.version);
    Start start{record.key, "main", spec.time_limit, {}, {}};
    start.nodes.push_back(share);
    group.starts.push_back(start);
    Plan plan;
    plan.groups.push_back(group);
    last = record.key;
    cluster.put(std::move(record));
    cluster.take(plan, kNow);
  }

  TestCluster cluster;
  JobKey last;
  PendingInfo waits;
};

TEST_F(RestrictedCpusPlan, JobsWithoutGpusGetTheOthersOnly) {
  EXPECT_THAT(start(job(4)), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(start(job(1)), ElementsAre());
  EXPECT_EQ(waits.reason, Reason::resources);
  EXPECT_THAT(waits.detail, HasSubstr("free CPUs that are not kept for jobs with GPUs"));
  EXPECT_THAT(start(job(2, 1)), ElementsAre(0, 1)) << "those of its GPU";
}

TEST_F(RestrictedCpusPlan, AJobForMoreThanTheOthersNeverStarts) {
  EXPECT_THAT(start(job(5)), ElementsAre());
  EXPECT_EQ(waits.reason, Reason::bad_constraints);
  EXPECT_THAT(waits.detail, HasSubstr("keep 8 CPUs for jobs with GPUs"));
  EXPECT_EQ(start(job(12, 1)).size(), 12u) << "a job with a GPU may have all";
}

TEST_F(RestrictedCpusPlan, JobsOfWholeNodesGetAllCpus) {
  JobSpec whole = job(5);
  whole.exclusive = true;
  EXPECT_EQ(start(whole).size(), 12u);
}

TEST_F(RestrictedCpusPlan, JobsWithGpusLeaveWhatIsKeptForOtherGpus) {
  EXPECT_THAT(start(job(4, 1)), ElementsAre(0, 1, 4, 5)) << "its own, then free ones near it";
  EXPECT_THAT(start(job(3)), ElementsAre()) << "two are left for jobs without GPUs";
  give_up();
  EXPECT_THAT(start(job(2)), ElementsAre(10, 11));
  EXPECT_THAT(start(job(4, 1)), ElementsAre(2, 3, 6, 7)) << "no others are free any more";
}

TEST_F(RestrictedCpusPlan, WaitingJobIsExpectedWhenEnoughOthersAreFree) {
  cluster.policy.backfill = {BackfillKind::easy, 1};
  start(job(12, 4, 30));
  start(job(4));
  EXPECT_EQ(waits.expected_start, kNow + minutes(30));
  cluster.end(JobKey{JobId(1), {}});
  cluster.end(last);
  start(job(1, 1, 300));
  start(job(4, 0, 20));
  start(job(1, 0, 20));
  EXPECT_EQ(waits.expected_start, kNow + minutes(20));
}

TEST_F(RestrictedCpusPlan, AJobWithAGpuDelaysNoPlannedStartByItsCpuNumbers) {
  cluster.policy.backfill = {BackfillKind::easy, 1};
  hold({0, 1, 2, 3, 6, 7, 8, 9}, {0, 1, 2}, 10);
  hold({4}, {}, 20, Bytes::mib(3000));
  JobSpec large = job(3);
  large.memory_per_node = Bytes::mib(2000);
  const JobKey first = cluster.submit(large);
  // It has room now, but only on the CPUs that the first job needs in 20 minutes.
  const JobKey second = cluster.submit(job(3, 1, 60));
  const JobKey shorter = cluster.submit(job(1, 1, 60));
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, first)->expected_start, kNow + minutes(20));
  EXPECT_FALSE(start_of(plan, second));
  EXPECT_TRUE(start_of(plan, shorter)) << "one CPU is not needed then";
}

TEST_F(RestrictedCpusPlan, ChargesWithoutNumbersKeepJobsWithoutGpusAway) {
  run(cluster, {"n1"}, 1);
  EXPECT_THAT(start(job(1)), ElementsAre()) << "which CPUs are free is not known";
  give_up();
  add("n2");
  EXPECT_EQ(start(job(4)), (Ids{4, 5, 10, 11}));
}

TEST_F(RestrictedCpusPlan, PreemptorsGetTheOthersOnly) {
  add_tiers(cluster);
  start(job(12, 4, 600), kNow - minutes(60));
  const JobKey large = cluster.submit(high_spec(5)), fits = cluster.submit(high_spec(4));
  const Plan plan = cluster.plan();
  std::size_t claims = 0;
  for (const PlanGroup& group : plan.groups) {
    if (group.claims.empty()) continue;
    ++claims;
    EXPECT_EQ(group.claims.front().key, fits);
    EXPECT_EQ(group.claims.front().claim.nodes.front().cpu_ids, (Ids{4, 5, 10, 11}));
  }
  EXPECT_EQ(claims, 1u);
  EXPECT_EQ(pending_of(plan, large)->reason, Reason::bad_constraints);
  cluster.evict(plan, kNow);
  cluster.end(JobKey{JobId(1), {}});
  const Plan next = cluster.plan();
  ASSERT_TRUE(start_of(next, fits));
  EXPECT_EQ(start_of(next, fits)->nodes.front().cpu_ids, (Ids{4, 5, 10, 11}));
}

TEST_F(RestrictedCpusPlan, ResumedJobsCountWhereTheyAre) {
  start(job(4, 1));
  cluster.suspend(last, kNow);
  const JobKey suspended = last;
  EXPECT_EQ(start(job(4, 0, 30)), (Ids{4, 5, 10, 11}));
  cluster.end(last);
  cluster.resume(suspended, kNow);
  EXPECT_EQ(start(job(3)), Ids{}) << "it has two of the others";
}

TEST_F(RestrictedCpusPlan, ANewRestrictionCountsWhatRuns) {
  keep(0);
  EXPECT_EQ(start(job(6)), (Ids{0, 1, 2, 3, 4, 5}));
  const ClusterState before = cluster.state;
  ClusterIndex kept(before);
  EXPECT_FALSE(kept.unrestricted_column());
  keep(2);
  EXPECT_FALSE(kept.update(before, cluster.state, {})) << "a column more";
  EXPECT_EQ(start(job(3)), Ids{});
  give_up();
  EXPECT_EQ(start(job(2)), (Ids{10, 11}));
}

// The index that a planner keeps equals a new one.
TEST_F(RestrictedCpusPlan, KeptIndexFollowsStartsAndEnds) {
  add("n2");
  keep(0, "n2");
  const ClusterState before = cluster.state;
  ClusterIndex kept(before);
  const auto column = kept.unrestricted_column();
  ASSERT_TRUE(column);
  const auto free = [&](std::size_t node) { return kept.nodes()[node].free[*column]; };
  EXPECT_EQ(free(0), 4);
  EXPECT_EQ(free(1), 12);
  JobSpec here = job(4, 1);
  here.required_nodes = {"n1"};
  EXPECT_EQ(start(here), (Ids{0, 1, 4, 5}));
  const ClusterState started = cluster.state;
  ASSERT_TRUE(kept.update(before, started, {}));
  EXPECT_EQ(free(0), 2);
  EXPECT_EQ(free(1), 12);
  cluster.end(last);
  const ClusterState ended = cluster.state;
  ASSERT_TRUE(kept.update(started, ended, {}));
  EXPECT_EQ(free(0), 4);
  keep(1);
  const ClusterState fewer = cluster.state;
  ASSERT_TRUE(kept.update(ended, fewer, {}));
  EXPECT_EQ(free(0), 8);
  keep(0);
  EXPECT_FALSE(kept.update(fewer, cluster.state, {})) << "a column less";
}

}  // namespace
}  // namespace ares::core::sched
