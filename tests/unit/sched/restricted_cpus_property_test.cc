// Tests: restricted_cpus, unrestricted_cpus, devices, expected_releases
// Random jobs with and without GPUs on nodes that keep cores for jobs with GPUs: no job without GPUs
// gets one of these, no CPU is given twice, and a job that has room is not left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "core/sched/pass/plan_text.h"
#include "core/topology/parsed_topology.h"
#include "core/topology/restricted_cpus.h"
#include "model/job/gpu_part.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

constexpr const char* kSockets =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\tX\tPIX\tSYS\tSYS\t0-2,6-8\t0\n"
    "GPU1\tPIX\tX\tSYS\tSYS\t0-2,6-8\t0\n"
    "GPU2\tSYS\tSYS\tX\tPIX\t3-5,9-11\t1\n"
    "GPU3\tSYS\tSYS\tPIX\tX\t3-5,9-11\t1\n";

class World {
 public:
  explicit World(std::uint64_t seed) : dice(seed) {
    const std::uint32_t nodes = 1 + dice.upto(2);
    for (std::uint32_t i = 1; i <= nodes; ++i) add("n" + std::to_string(i));
    constexpr BackfillKind kKinds[] = {BackfillKind::none, BackfillKind::easy,
                                       BackfillKind::conservative};
    cluster.policy.backfill = {kKinds[dice.upto(2)], 1};
  }

  void add(const std::string& name) {
    cluster.add_node(name, 12);
    Node node = cluster.node(name);
    topology::ParsedTopology parsed = topology::read_topology(kSockets, "a100").value();
    node.inventory.gpus = std::move(parsed.gpus);
    if (dice.percent(80)) node.inventory.gpu_topology = std::move(parsed.topology);
    if (dice.percent(50)) node.inventory.cpu_layout = SharedText("0.0:0-2/6-8;1.1:3-5/9-11");
    node.inventory.restricted_cores_per_gpu = dice.upto(2);
    cluster.put(std::move(node));
  }

  JobSpec random_job() {
    JobSpec spec = TestCluster::spec(1 + dice.upto(3));
    spec.cpus_per_task = 1 + dice.upto(1);
    spec.time_limit = minutes(1 + dice.upto(30));
    spec.memory_per_node = Bytes::mib(dice.percent(30) ? 2500 : 10);
    switch (dice.upto(5)) {
      case 0: spec.gpus_per_node = {{"", 1 + dice.upto(2)}}; break;
      case 1: spec.gpus_per_node = {{"a100", 0, 250}}; break;
      case 2:
        spec.tasks = 1 + dice.upto(2);
        spec.gpus_per_task = {{"", 1}};
        break;
      case 3: spec.max_nodes = spec.tasks; break;
      default: break;
    }
    if (dice.percent(5)) spec.exclusive = true;
    return spec;
  }

  std::shared_ptr<const topology::RestrictedCpus> kept_of(const Node& node) {
    return topology::restricted_cpus(node.inventory, machines_, layouts_);
  }

  // Empty if the CPUs of all running jobs are theirs alone, and those that they may have.
  std::string wrong_cpus() {
    std::string wrong;
    cluster.state.nodes.for_each([&](NodeId, const Node& node) {
      const auto kept = kept_of(node);
      std::set<std::uint32_t> seen;
      for (const Charge& charge : node.charges) {
        const JobSpec& spec = *cluster.state.jobs.find(charge.attempt.job)->spec;
        if (charge.cpu_ids.size() != charge.cpus) wrong = "CPUs without numbers on " + node.name;
        for (const std::uint32_t cpu : charge.cpu_ids) {
          if (!seen.insert(cpu).second) wrong = "a CPU is given twice on " + node.name;
          if (kept && kept->all.test(cpu) &&
              !topology::may_use_restricted_cpus(spec, cluster.partition()))
            wrong = "a kept CPU of " + node.name + " is given to a job without GPUs";
        }
      }
    });
    return wrong;
  }

  // Whether the job, which needs one node, has room on one now.
  bool has_room(const JobSpec& spec) {
    bool room = false;
    cluster.state.nodes.for_each([&](NodeId, const Node& node) {
      const auto kept = kept_of(node);
      Bitset cpus(12, true);
      std::int64_t memory = node.inventory.memory.value(), gpus = 4;
      if (kept && !topology::may_use_restricted_cpus(spec, cluster.partition()))
        cpus.andnot(kept->all);
      std::set<GpuIndex> used;
      for (const Charge& charge : node.charges) {
        for (const std::uint32_t cpu : charge.cpu_ids) cpus.reset(cpu);
        memory -= charge.memory.value();
        used.insert(charge.gpus.begin(), charge.gpus.end());
      }
      gpus -= static_cast<std::int64_t>(used.size());
      std::int64_t wanted = 0;
      for (const GpuRequest& gpu : spec.gpus_per_node) wanted += devices_of(gpu);
      for (const GpuRequest& gpu : spec.gpus_per_task) wanted += devices_of(gpu) * spec.tasks;
      room = room || (cpus.count() >= std::size_t{spec.tasks} * spec.cpus_per_task &&
                      memory >= spec.memory_per_node->value() && gpus >= wanted);
    });
    return room;
  }

  // The first pending job, if it has room on one node; with backfill as without, nothing is planned
  // before it.
  std::optional<JobKey> left_out() {
    std::optional<JobKey> first;
    cluster.state.pending.for_each([&](const JobKey& key, Lsn) {
      if (!first) first = key;
    });
    if (!first) return std::nullopt;
    const JobSpec& spec = *cluster.state.jobs.find(*first)->spec;
    if (spec.exclusive || !has_room(spec)) return std::nullopt;
    return first;
  }

  Random dice;
  TestCluster cluster;

 private:
  topology::Machines machines_;
  topology::CpuLayouts layouts_;
};

TEST(RestrictedCpusProperty, NoJobWithoutGpusGetsThemAndNoJobIsForgotten) {
  std::size_t with_kept = 0, planned_later = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    World world(seed);
    TestCluster& cluster = world.cluster;
    Planner kept;
    std::vector<JobKey> running;
    std::set<JobKey> impossible;
    std::size_t submitted = 0, ran = 0;
    Time now = kNow;
    const auto step = [&] {
      const Plan plan = cluster.plan(now);
      ASSERT_EQ(plan_text(kept.plan(cluster.state, cluster.policy, {}, now)), plan_text(plan))
          << "seed " << seed;
      ASSERT_EQ(over_commitment(cluster.state, plan), "") << "seed " << seed;
      cluster.take(plan, now);
      for (const PlanGroup& group : plan.groups)
        for (const Start& start : group.starts) running.push_back(start.key);
      plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
        if (info.reason == Reason::bad_constraints) impossible.insert(key);
        planned_later += info.expected_start ? 1 : 0;
      });
      for (const JobKey& key : impossible)
        if (const Job* job = cluster.state.jobs.find(key); job->state == JobState::pending)
          cluster.put([&] {
            Job gone = *job;
            gone.state = JobState::cancelled;
            return gone;
          }());
      ASSERT_EQ(world.wrong_cpus(), "") << "seed " << seed;
      if (const auto first = world.left_out())
        FAIL() << "seed " << seed << ": job " << first->job.value() << " has room";
    };
    const auto end_one = [&] {
      const std::size_t at = world.dice.upto(static_cast<std::uint32_t>(running.size() - 1));
      cluster.end(running[at]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
      ++ran;
    };
    for (int i = 0; i < 60; ++i) {
      if (submitted < 35 && world.dice.percent(70)) {
        cluster.submit(world.random_job());
        ++submitted;
      }
      ASSERT_NO_FATAL_FAILURE(step());
      if (!running.empty() && world.dice.percent(60)) end_one();
      now += minutes(1);
    }
    do {
      if (!running.empty()) end_one();
      ASSERT_NO_FATAL_FAILURE(step());
    } while (!running.empty());
    EXPECT_EQ(ran + impossible.size(), submitted) << "seed " << seed;
    cluster.state.nodes.for_each(
        [&](NodeId, const Node& node) { with_kept += world.kept_of(node) ? 1 : 0; });
  }
  EXPECT_GT(with_kept, 50u);
  EXPECT_GT(planned_later, 100u);
}

}  // namespace
}  // namespace ares::core::sched
