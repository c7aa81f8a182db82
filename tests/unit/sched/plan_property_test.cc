// Properties of plan() on random clusters: no over-commitment, determinism, and no promise broken by back-filling.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t upto(std::uint32_t most) {
    return static_cast<std::uint32_t>(engine_() % (most + 1));
  }
  bool chance(std::uint32_t percent) { return upto(99) < percent; }
  template <class T>
  void shuffle(std::vector<T>& items) {
    std::shuffle(items.begin(), items.end(), engine_);
  }

 private:
  std::mt19937_64 engine_;
};

void add_nodes(TestCluster& cluster, Dice& dice) {
  const std::uint32_t nodes = 1 + dice.upto(7);
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.add_node(name, 1 + dice.upto(7), Bytes::mib(1000 + 1000 * dice.upto(3)));
    if (dice.chance(40)) cluster.add_gpus(name, "a100", 1 + dice.upto(3));
    if (dice.chance(30)) cluster.add_gpus(name, "h100", 1 + dice.upto(3));
    Node node = cluster.node(name);
    node.inventory.features = {dice.chance(50) ? "r1" : "r2"};
    cluster.put(node);
  }
}

JobSpec random_spec(Dice& dice) {
  JobSpec spec = TestCluster::spec(1 + dice.upto(5), 1 + dice.upto(2));
  if (dice.chance(30)) spec.max_nodes = dice.chance(50) ? 0 : spec.min_nodes + dice.upto(3);
  if (dice.chance(30)) spec.cpus_per_task = 1 + dice.upto(2);
  if (dice.chance(20)) spec.tasks_per_node = 1 + dice.upto(2);
  if (dice.chance(30))
    spec.memory_per_node = Bytes::mib(dice.upto(4) * 500);
  else if (dice.chance(30))
    spec.memory_per_cpu = Bytes::mib(100 + 100 * dice.upto(5));
  if (dice.chance(20))
    spec.gpus_per_node = {{dice.chance(50) ? "" : "a100", 1 + dice.upto(2)}};
  else if (dice.chance(15))
    spec.gpus_total = {{dice.chance(50) ? "" : "h100", 1 + dice.upto(4)}};
  if (dice.chance(10)) spec.exclusive = true;
  spec.uid = UserId(1 + dice.upto(2));
  if (dice.chance(8)) spec.exclusive_user = true;
  const char* const constraints[] = {"r1", "r1|r2", "[r1|r2]", "r1*1&r2*1"};
  if (dice.chance(15)) spec.features = {constraints[dice.upto(3)]};
  if (dice.chance(5)) spec.node_counts.emplace().insert(1 + dice.upto(1), 2 + dice.upto(2));
  if (spec.node_counts) {
    spec.min_nodes = spec.node_counts->front();
    spec.max_nodes = spec.node_counts->back();
  }
  if (dice.chance(10)) spec.required_nodes = {"n" + std::to_string(1 + dice.upto(3))};
  if (dice.chance(10)) spec.excluded_nodes = {"n" + std::to_string(1 + dice.upto(3))};
  if (dice.chance(80)) spec.time_limit = minutes(1 + dice.upto(100));
  if (dice.chance(10)) {
    spec.array.emplace().insert(0, dice.upto(6));
    spec.array_throttle = dice.upto(3);
  }
  spec.nice = static_cast<std::int32_t>(dice.upto(3));
  return spec;
}

std::vector<JobKey> running(const TestCluster& cluster) {
  std::vector<JobKey> keys;
  cluster.state.jobs.for_each([&](const JobKey& key, const Job& job) {
    if (job.state == JobState::running) keys.push_back(key);
  });
  return keys;
}

TEST(PlanProperty, NeverOverCommitsAlongRandomLives) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    Time now = kNow;
    for (int step = 0; step < 12; ++step) {
      for (std::uint32_t i = dice.upto(5); i > 0; --i) cluster.submit(random_spec(dice));
      const Plan plan = cluster.plan(now);
      ASSERT_EQ(over_commitment(cluster.state, plan), "") << "seed " << seed << " step " << step;
      cluster.take(plan, now);
      for (const JobKey& key : running(cluster))
        if (dice.chance(30)) cluster.end(key);
      now += minutes(dice.upto(20));
    }
  }
}

TEST(PlanProperty, EveryPendingRecordIsStartedOrExplained) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Dice dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    for (int i = 0; i < 20; ++i) cluster.submit(random_spec(dice));
    const Plan plan = cluster.plan();
    cluster.take(plan, kNow);
    cluster.state.pending.for_each([&](const JobKey& key, Lsn) {
      const PendingInfo* info = pending_of(plan, key);
      ASSERT_TRUE(info) << "seed " << seed << " job " << key.job.value();
      EXPECT_NE(info->reason, Reason::none);
    });
  }
}

std::string describe(const Plan& plan) {
  std::string text;
  for (const PlanGroup& group : plan.groups)
    for (const Start& start : group.starts) {
      text +=
          std::to_string(start.key.job.value()) + "." + std::to_string(start.key.task.value) + ":";
      for (const NodeShare& share : start.nodes) {
        text += " " + std::to_string(share.node.value()) + "/" + std::to_string(share.cpus) + "/" +
                std::to_string(share.memory.value());
        for (const GpuIndex gpu : share.gpus) text += "," + std::to_string(gpu.value());
      }
      text += "\n";
    }
  plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
    text += std::to_string(key.job.value()) + "_" + std::to_string(key.task.value) + " " +
            std::string(to_string(info.reason)) + " " + info.detail + " " +
            std::to_string(info.expected_start.value_or(Time{}).time_since_epoch().count()) + "\n";
  });
  return text;
}

TEST(PlanProperty, SameStateGivesTheSamePlanHoweverItWasBuilt) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Dice dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    std::vector<Job> jobs;
    for (int i = 0; i < 20; ++i) jobs.push_back(cluster.job(random_spec(dice)));
    TestCluster shuffled = cluster;
    for (const Job& job : jobs) cluster.put(job);
    dice.shuffle(jobs);
    for (const Job& job : jobs) shuffled.put(job);
    const std::string once = describe(cluster.plan());
    ASSERT_EQ(once, describe(cluster.plan())) << "seed " << seed;
    ASSERT_EQ(once, describe(shuffled.plan())) << "seed " << seed;
  }
}

// What a planner keeps from pass to pass must never show: jobs come, change, start (or their start is refused), end and go;
// nodes drain, lose a GPU, come back; the configuration changes.
TEST(PlanProperty, APlannerThatRemembersPlansWhatANewOneWould) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    cluster.policy.backfill = {static_cast<BackfillKind>(seed % 3), 1 + dice.upto(3)};
    Planner planner;
    Time now = kNow;
    for (int step = 0; step < 25; ++step) {
      for (std::uint32_t i = dice.upto(4); i > 0; --i) cluster.submit(random_spec(dice));
      std::vector<Job> waiting;
      cluster.state.pending.for_each(
          [&](const JobKey& key, Lsn) { waiting.push_back(*cluster.state.jobs.find(key)); });
      for (Job& job : waiting) {
        if (!dice.chance(10)) continue;
        job.hold = dice.chance(50) ? Hold::user : Hold::none;
        job.priority = dice.upto(3);
        job.version = Lsn(job.version.value() + 1'000'000);
        if (dice.chance(20)) job.state = JobState::cancelled;
        cluster.put(job);
      }
      if (dice.chance(20)) {
        std::vector<Node> nodes;
        cluster.state.nodes.for_each([&](NodeId, const Node& node) { nodes.push_back(node); });
        Node node = nodes[dice.upto(static_cast<std::uint32_t>(nodes.size()) - 1)];
        switch (dice.upto(3)) {
          case 0: node.admin = AdminState::drain; break;
          case 1: node.admin = AdminState::up; break;
          case 2: node.contact = Contact::lost; break;
          default:
            node.contact = Contact::registered;
            if (!node.inventory.gpus.empty()) node.inventory.gpus.pop_back();
        }
        cluster.put(node);
      }
      if (dice.chance(5)) {
        Partition main = cluster.partition();
        main.up = !main.up;
        cluster.put(main);
      }
      const Plan plan = planner.plan(cluster.state, cluster.policy, {}, now);
      ASSERT_EQ(describe(plan), describe(cluster.plan(now))) << "seed " << seed << " step " << step;
      if (dice.chance(80)) cluster.take(plan, now);
      for (const JobKey& key : running(cluster))
        if (dice.chance(30)) cluster.end(key);
      now += minutes(dice.upto(20));
    }
  }
}

// Time goes from one end of a job at its limit to the next, all that may start does, and nothing new is submitted:
// the first blocked job must start no later than it was first promised.
TEST(PlanProperty, APromisedStartNeverMovesLater) {
  int promises = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    for (int i = 0; i < 25; ++i) {
      JobSpec spec = random_spec(dice);
      spec.array.reset();
      if (!spec.time_limit) spec.time_limit = minutes(30);
      cluster.submit(spec);
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
        if (end_of(key) <= now || dice.chance(10)) cluster.end(key);
    }
  }
  EXPECT_GT(promises, 300);
}

// A bound with much room to spare: the point is that no pass is quadratic. Sanitizers and debug builds are slower.
TEST(PlanProperty, TenThousandJobsOnAHundredNodesAreQuick) {
  Dice dice(7);
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
