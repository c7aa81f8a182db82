// Tests: node_change_log, pass, expected_releases
// Properties of plan() on random clusters: no over-commitment, determinism, and backfill delays no
// planned start.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/random.h"
#include "core/job/checks/alternative_checks.h"
#include "core/job/checks/gpu_part_checks.h"
#include "core/job/gang.h"
#include "core/sched/pass/plan_text.h"
#include "unit/sched/cluster.h"
#include "unit/sched/random_cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

// Empty if every start respects its job's limits on leaf switches and segments; otherwise the
// error.
std::string broken_limit(const TestCluster& cluster, const Plan& plan, Time now) {
  const Partition main = cluster.partition();
  const NetworkSpec* network = cluster.policy.networks.find(main.topology);
  const auto leaf_of = [&](NodeId node) -> std::string {
    const std::string& name = cluster.state.nodes.find(node)->name;
    for (const NetworkDomain& domain : network->domains)
      if (std::find(domain.nodes.begin(), domain.nodes.end(), name) != domain.nodes.end())
        return domain.name;
    return "?";
  };
  for (const PlanGroup& group : plan.groups)
    for (const Start& start : group.starts) {
      const Job& job = *cluster.state.jobs.find(record_of(group, start));
      const JobSpec& spec = *job.spec;
      const bool waits = !spec.switches_wait || job.eligible + *spec.switches_wait > now;
      const std::uint32_t most = waits ? spec.switches : 0;
      if (!network) {
        if ((most > 0 || spec.segment > 1) && start.nodes.size() > 1)
          return "a limit met without a network";
        continue;
      }
      std::vector<std::string> order;
      std::map<std::string, std::uint32_t> leaves;
      for (const NodeShare& share : start.nodes)
        if (leaves[leaf_of(share.node)]++ == 0) order.push_back(leaf_of(share.node));
      if (most > 0 && leaves.size() > most) return "too many leaves";
      for (std::size_t i = 1; i < start.nodes.size(); ++i)
        if (leaf_of(start.nodes[i].node) != leaf_of(start.nodes[i - 1].node) &&
            order[0] == leaf_of(start.nodes[i].node))
          return "ranks of one leaf are apart";
      for (const auto& [leaf, nodes] : leaves)
        if (spec.segment > 1 && nodes % spec.segment != 0) return "a broken segment in " + leaf;
    }
  return {};
}

TEST(PlanProperty, NeverOverCommitsNorStartsPartOfAGang) {
  int gangs = 0, parts = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    Time now = kNow;
    for (int step = 0; step < 12; ++step) {
      for (std::uint32_t i = dice.upto(5); i > 0; --i) submit_random(cluster, dice);
      const Plan plan = cluster.plan(now);
      ASSERT_EQ(over_commitment(cluster.state, plan), "") << "seed " << seed << " step " << step;
      ASSERT_EQ(broken_limit(cluster, plan, now), "") << "seed " << seed << " step " << step;
      for (const PlanGroup& group : plan.groups) {
        std::vector<JobKey> keys;
        for (const Start& start : group.starts) {
          keys.push_back(start.key);
          const Job* job = cluster.state.jobs.find(start.key);
          if (!job) job = cluster.state.jobs.find(JobKey{start.key.job, {}});
          ASSERT_TRUE(has_requested_part(cluster.state, *job->spec, start.partition,
                                         start.alternative, start.nodes))
              << "seed " << seed << " step " << step << " job " << start.key.job.value();
          for (const NodeShare& share : start.nodes) parts += share.gpu_part > 0 ? 1 : 0;
          ASSERT_TRUE(matches_alternative(cluster.state, *job->spec, start.partition,
                                          start.alternative, start.nodes))
              << "seed " << seed << " step " << step << " job " << start.key.job.value();
        }
        ASSERT_TRUE(starts_whole_gangs(cluster.state, keys)) << "seed " << seed << " step " << step;
        gangs += keys.size() > 1 ? 1 : 0;
      }
      cluster.take(plan, now);
      for (const JobKey& key : running(cluster))
        if (dice.percent(30)) cluster.end(key);
      now += minutes(dice.upto(20));
    }
  }
  EXPECT_GT(gangs, 50);
  EXPECT_GT(parts, 500);
}

TEST(PlanProperty, EveryPendingRecordIsStartedOrExplained) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    for (int i = 0; i < 20; ++i) submit_random(cluster, dice);
    const Plan plan = cluster.plan();
    cluster.take(plan, kNow);
    cluster.state.pending.for_each([&](const JobKey& key, Lsn) {
      const PendingInfo* info = pending_of(plan, key);
      ASSERT_TRUE(info) << "seed " << seed << " job " << key.job.value();
      EXPECT_NE(info->reason, Reason::none);
    });
  }
}

TEST(PlanProperty, SameStateGivesTheSamePlanIndependentOfItsHistory) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    std::vector<Job> jobs;
    for (int i = 0; i < 20; ++i) jobs.push_back(cluster.job(random_spec(dice)));
    for (int i = 0; i < 4; ++i) {
      JobSpec spec = random_spec(dice);
      spec.array.reset();
      spec.uid = UserId(1);
      spec.gang = GangRequest{"g" + std::to_string(i / 2), 2, 0, std::nullopt};
      jobs.push_back(cluster.job(spec));
    }
    TestCluster shuffled = cluster;
    for (const Job& job : jobs) cluster.put(job);
    dice.shuffle(jobs);
    for (const Job& job : jobs) shuffled.put(job);
    const std::string once = plan_text(cluster.plan());
    ASSERT_EQ(once, plan_text(cluster.plan())) << "seed " << seed;
    ASSERT_EQ(once, plan_text(shuffled.plan())) << "seed " << seed;
  }
}

// State that a planner keeps from pass to pass must not affect its plans. Jobs arrive, change,
// start (or their start is refused), end and are removed; nodes drain, lose a GPU, return; the
// configuration changes.
TEST(PlanProperty, IncrementalPlanEqualsTheOneFromScratch) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    cluster.policy.backfill = {static_cast<BackfillKind>(seed % 3), 1 + dice.upto(3)};
    Planner planner;
    Time now = kNow;
    // Without numbers most of the queue is skipped; with a limited budget both planners must stop
    // at the same point.
    Budget budget;
    budget.details = seed % 2 == 0;
    budget.estimates = seed % 4 < 2 ? 0 : 16;
    if (seed % 5 == 0) budget.units = 20 + dice.upto(400);
    for (int step = 0; step < 25; ++step) {
      for (std::uint32_t i = dice.upto(4); i > 0; --i) submit_random(cluster, dice);
      std::vector<Job> waiting;
      cluster.state.pending.for_each(
          [&](const JobKey& key, Lsn) { waiting.push_back(*cluster.state.jobs.find(key)); });
      for (Job& job : waiting) {
        if (!dice.percent(10)) continue;
        job.hold = dice.percent(50) ? Hold::user : Hold::none;
        job.priority = dice.upto(3);
        job.version = Lsn(job.version.value() + 1'000'000);
        if (dice.percent(20)) job.state = JobState::cancelled;
        cluster.put(job);
      }
      if (dice.percent(20)) disturb(cluster, dice);
      if (dice.percent(5)) {
        Partition main = cluster.partition();
        main.up = !main.up;
        cluster.put(main);
      }
      if (dice.percent(5)) add_placement(cluster, dice);
      const Plan plan = planner.plan(cluster.state, cluster.policy, budget, now);
      ASSERT_EQ(plan_text(plan), plan_text(cluster.plan(now, budget)))
          << "seed " << seed << " step " << step;
      if (dice.percent(80)) cluster.take(plan, now);
      for (const JobKey& key : running(cluster))
        if (dice.percent(30)) cluster.end(key);
      now += minutes(dice.upto(20));
    }
  }
}

// Time advances from one end of a job at its limit to the next, all jobs that may start do, and no
// new job is submitted: the first blocked job must start no later than its first planned start.
TEST(PlanProperty, PlannedStartNeverMovesLater) {
  int promises = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    for (int i = 0; i < 25; ++i) {
      JobSpec spec = random_spec(dice);
      spec.array.reset();
      // A job whose limit on switches ends may get ahead of others again.
      spec.switches_wait.reset();
      // Otherwise its planned start may move later while its combination of start and cost
      // improves.
      for (GpuAlternative& one : spec.gpu_alternatives) one.cost = 1000;
      if (!spec.time_limit) spec.time_limit = minutes(30);
      // Gangs of identical one-node members only, because for other gangs the search is a
      // heuristic.
      const bool simple = spec.min_nodes == 1 && spec.max_nodes == 1;
      const std::uint32_t members = dice.percent(15) && simple ? 2 + dice.upto(1) : 1;
      if (members > 1) spec.gang = GangRequest{"g" + std::to_string(i), members, 0, std::nullopt};
      for (std::uint32_t m = 0; m < members; ++m) cluster.submit(spec);
    }
    Time now = kNow;
    std::map<JobKey, Time> promised;
    for (int step = 0; step < 60; ++step) {
      const Plan plan = cluster.plan(now);
      for (const auto& [key, at] : promised)
        if (const PendingInfo* info = pending_of(plan, key)) {
          ASSERT_TRUE(info->expected_start) << "seed " << seed;
          ASSERT_LE(*info->expected_start, at) << "seed " << seed << " job " << key.job.value();
        }
      plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
        if (info.reason == Reason::resources && info.expected_start &&
            promised.try_emplace(key, *info.expected_start).second)
          ++promises;
      });
      cluster.take(plan, now);
      const auto busy = running(cluster);
      if (busy.empty()) break;
      Time next = Time::max();
      const auto end_of = [&](const JobKey& key) {
        const Job& job = *cluster.state.jobs.find(key);
        return *job.started + *job.allocation->time_limit;
      };
      for (const JobKey& key : busy) next = std::min(next, end_of(key));
      now = next;
      for (const JobKey& key : busy)
        if (end_of(key) <= now || dice.percent(10)) cluster.end(key);
    }
  }
  EXPECT_GT(promises, 300);
}

// The bound leaves a large margin; the test checks that no pass is quadratic. Sanitizers and debug
// builds are slower.
TEST(PlanProperty, TenThousandJobsOnAHundredNodesAreQuick) {
  Random dice(7);
  TestCluster cluster;
  for (int i = 1; i <= 100; ++i) cluster.add_node("n" + std::to_string(i), 64, Bytes::gib(256));
  for (int i = 0; i < 10'000; ++i) {
    JobSpec spec = TestCluster::spec(1 + dice.upto(15), 1 + dice.upto(3));
    spec.memory_per_cpu = Bytes::mib(100 * (1 + dice.upto(3)));
    spec.time_limit = minutes(1 + dice.upto(5000));
    cluster.submit(spec);
  }
  cluster.take(cluster.plan(), kNow);
  const auto before = std::chrono::steady_clock::now();
  const Plan plan = cluster.plan(kNow + minutes(1));
  const auto took = std::chrono::steady_clock::now() - before;
  RecordProperty("pass_ms",
                 std::to_string(std::chrono::duration<double, std::milli>(took).count()));
  EXPECT_GT(plan.pending.size(), 8000u);
  EXPECT_LT(took, std::chrono::seconds(5));
}

}  // namespace
}  // namespace ares::core::sched
