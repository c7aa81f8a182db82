// Tests: indexed_node
// Parts of GPUs: which jobs share a device, how long it is used, and that sharing delays no planned
// start.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

#include "base/random.h"
#include "core/sched/place/filter.h"
#include "core/sched/place/shared_gpus.h"
#include "core/sched/time/backfill.h"
#include "unit/sched/cluster.h"
#include "unit/sched/preemption.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

JobSpec part(std::uint32_t thousandths, minutes limit = minutes(60), const std::string& type = "") {
  JobSpec spec = TestCluster::spec();
  spec.gpus_per_node = {{type, 0, thousandths}};
  spec.time_limit = limit;
  return spec;
}

JobSpec whole(std::uint32_t count = 1, minutes limit = minutes(60), const std::string& type = "") {
  JobSpec spec = TestCluster::spec();
  spec.gpus_per_node = {{type, count}};
  spec.time_limit = limit;
  return spec;
}

class GpuParts : public testing::Test {
 protected:
  void machine(const std::string& name, std::uint32_t gpus, const std::string& type = "a100") {
    cluster.add_node(name, 8, Bytes::gib(64));
    cluster.add_gpus(name, type, gpus);
  }
  // Starts the job now.
  JobKey run(JobSpec spec) {
    const JobKey key = cluster.submit(std::move(spec));
    const Plan plan = cluster.plan(now);
    EXPECT_TRUE(start_of(plan, key));
    EXPECT_EQ(over_commitment(cluster.state, plan), "");
    cluster.take(plan, now);
    return key;
  }
  const NodeShare& share(const JobKey& key) {
    return cluster.state.jobs.find(key)->allocation->nodes.front();
  }

  TestCluster cluster;
  Time now = kNow;
};

TEST_F(GpuParts, TwoHalvesShareADeviceAndAThirdWaits) {
  machine("n1", 1);
  const JobKey a = cluster.submit(part(500)), b = cluster.submit(part(500)),
               c = cluster.submit(part(500));
  const Plan plan = cluster.plan();
  ASSERT_EQ(over_commitment(cluster.state, plan), "");
  ASSERT_TRUE(start_of(plan, a));
  ASSERT_TRUE(start_of(plan, b));
  EXPECT_EQ(start_of(plan, a)->nodes[0].gpus, start_of(plan, b)->nodes[0].gpus);
  EXPECT_EQ(start_of(plan, b)->nodes[0].gpu_part, 500u);
  ASSERT_TRUE(pending_of(plan, c));
  EXPECT_THAT(pending_of(plan, c)->detail,
              HasSubstr("0.5 of a GPU a node on 1 node: 1 node with too little free of every GPU "
                        "(at most 0)"));
  EXPECT_EQ(pending_of(plan, c)->expected_start, kNow + minutes(60));
}

TEST_F(GpuParts, WholeGpusAreNotShared) {
  machine("n1", 2);
  run(part(100));
  const JobKey b = run(whole());
  EXPECT_EQ(share(b).gpu_part, 0u);
  const JobKey c = cluster.submit(whole()), d = cluster.submit(part(900, minutes(10)));
  const Plan plan = cluster.plan(now);
  EXPECT_FALSE(start_of(plan, c)) << "nine tenths are no whole one";
  ASSERT_TRUE(start_of(plan, d)) << "and none is left of the other";
  EXPECT_NE(start_of(plan, d)->nodes[0].gpus, share(b).gpus);
}

TEST_F(GpuParts, FullestDeviceWithEnoughLeftIsJoined) {
  machine("n1", 3);
  const JobKey a = run(part(700)), b = run(part(600));
  EXPECT_NE(share(a).gpus, share(b).gpus);
  EXPECT_EQ(share(run(part(300))).gpus, share(a).gpus);
  EXPECT_EQ(share(run(part(300))).gpus, share(b).gpus);
  const JobKey c = run(part(300));
  EXPECT_NE(share(c).gpus, share(a).gpus) << "a third";
  EXPECT_EQ(share(run(part(100))).gpus, share(b).gpus) << "nine tenths of it are taken by now";
}

TEST_F(GpuParts, FullestDeviceIsChosenAcrossNodes) {
  machine("n1", 2);
  machine("n2", 1);
  machine("n3", 1, "h100");
  run(part(800, minutes(60), "h100"));
  const JobKey a = run(part(400));
  EXPECT_EQ(share(a).node, cluster.node("n2").id) << "no whole GPU is left idle beside it";
  EXPECT_EQ(share(run(part(150))).node, cluster.node("n3").id) << "of any type the fullest";
  EXPECT_EQ(share(run(part(150, minutes(60), "a100"))).node, cluster.node("n2").id);
}

TEST_F(GpuParts, ADeviceIsFreeWhenItsLastSharerEnds) {
  machine("n1", 1);
  run(part(300, minutes(30)));
  run(part(300, minutes(90)));
  run(part(300, minutes(60)));
  const JobKey key = cluster.submit(whole());
  EXPECT_EQ(pending_of(cluster.plan(now), key)->expected_start, kNow + minutes(90));
}

TEST_F(GpuParts, JoiningJobDelaysNoPlannedStart) {
  machine("n1", 1);
  run(part(300, minutes(60)));
  const JobKey first = cluster.submit(whole()), too_long = cluster.submit(part(300, minutes(61))),
               in_time = cluster.submit(part(300, minutes(60)));
  const Plan plan = cluster.plan(now);
  EXPECT_EQ(pending_of(plan, first)->expected_start, kNow + minutes(60));
  EXPECT_FALSE(start_of(plan, too_long));
  EXPECT_TRUE(start_of(plan, in_time));
}

// A device without planned start may be used longer than by the earlier sharers; later jobs then
// wait for the last one.
TEST_F(GpuParts, JoiningJobKeepsTheDeviceUntilItEnds) {
  machine("n1", 1);
  run(part(300, minutes(10)));
  const JobKey longer = cluster.submit(part(300, minutes(50))), after = cluster.submit(whole());
  const Plan plan = cluster.plan(now);
  EXPECT_TRUE(start_of(plan, longer));
  EXPECT_EQ(pending_of(plan, after)->expected_start, kNow + minutes(50));
}

TEST_F(GpuParts, MayBeOneOfSeveralAlternatives) {
  machine("n1", 1);
  machine("n2", 1, "h100");
  run(whole(1, minutes(60), "h100"));
  JobSpec spec = part(500, minutes(10), "h100");
  spec.gpu_alternatives = {{{{"h100", 0, 500}}, 1000}, {{{"a100", 1}}, 1000}};
  const JobKey a = cluster.submit(spec), b = cluster.submit(part(500, minutes(10), "h100"));
  const Plan plan = cluster.plan(now);
  ASSERT_TRUE(start_of(plan, a));
  EXPECT_EQ(start_of(plan, a)->alternative, 1u);
  EXPECT_EQ(start_of(plan, a)->nodes[0].gpu_part, 0u);
  EXPECT_FALSE(start_of(plan, b));
}

TEST_F(GpuParts, WorkInGangsAndArrays) {
  machine("n1", 1);
  JobSpec member = part(400);
  member.gang = GangRequest{"g", 2, 0, std::nullopt};
  const JobKey a = cluster.submit(member), b = cluster.submit(member);
  JobSpec array = part(100);
  array.array.emplace().insert(0, 4);
  const JobKey tasks = cluster.submit(array);
  const Plan plan = cluster.plan();
  ASSERT_EQ(over_commitment(cluster.state, plan), "");
  EXPECT_TRUE(start_of(plan, a) && start_of(plan, b));
  int started = 0;
  for (const PlanGroup& group : plan.groups)
    for (const Start& start : group.starts) started += start.key.job == tasks.job ? 1 : 0;
  EXPECT_EQ(started, 2);
}

TEST_F(GpuParts, OfAnUnknownTypeWait) {
  machine("n1", 2);
  run(part(500));
  const JobKey a = cluster.submit(part(250, minutes(60), "h100"));
  const Plan plan = cluster.plan(now);
  EXPECT_EQ(start_of(plan, a), nullptr);
  ASSERT_TRUE(pending_of(plan, a));
  EXPECT_THAT(pending_of(plan, a)->detail,
              HasSubstr("0.25 h100 a node on 1 node, which partition main never has"));
  EXPECT_EQ(pending_of(plan, a)->expected_start, std::nullopt);
  ClusterIndex index(cluster.state);
  EXPECT_EQ(make_demand(part(250, minutes(60), "h100"), cluster.partition(), index).gpu_part, 0u);
}

TEST_F(GpuParts, OnWholeNodesAreWholeGpus) {
  machine("n1", 2);
  Partition main = cluster.partition();
  main.exclusive = true;
  cluster.put(main);
  const JobKey key = cluster.submit(part(500));
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(start_of(plan, key)->nodes[0].gpus.size(), 2u);
  EXPECT_EQ(start_of(plan, key)->nodes[0].gpu_part, 0u);
}

// --- preemption ---

JobKey shares_now(TestCluster& cluster, std::uint32_t thousandths, const std::string& partition) {
  JobSpec spec = part(thousandths, minutes(600));
  spec.partitions = {partition};
  const JobKey key = cluster.submit(spec);
  cluster.take(cluster.plan(kNow - minutes(60)), kNow - minutes(60));
  return key;
}

TEST_F(GpuParts, AllSharersArePreemptedForAJobOfAHigherTier) {
  machine("n1", 1);
  add_tiers(cluster);
  const JobKey a = shares_now(cluster, 300, "main"), b = shares_now(cluster, 600, "main");
  JobSpec high = whole();
  high.partitions = {"high"};
  const JobKey key = cluster.submit(high);
  Plan plan = cluster.plan(now);
  EXPECT_THAT(victims_of(plan, key), ElementsAre(a, b));
  cluster.evict(plan, now);
  plan = cluster.plan(now);
  EXPECT_EQ(pending_of(plan, key)->reason, Reason::preempting);
  cluster.end(a);
  EXPECT_FALSE(start_of(cluster.plan(now), key)) << "half is not enough";
  cluster.end(b);
  plan = cluster.plan(now);
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
}

TEST_F(GpuParts, NoSharerIsPreemptedIfOneMayNotBe) {
  machine("n1", 1);
  add_tiers(cluster);
  shares_now(cluster, 300, "main");
  shares_now(cluster, 600, "high");
  JobSpec high = whole();
  high.partitions = {"high"};
  const JobKey key = cluster.submit(high);
  EXPECT_THAT(victims_of(cluster.plan(now), key), IsEmpty());
}

// --- compared with a slow search --------------------------------------------------------

// Used thousandths of each device of a node.
std::map<GpuIndex, std::uint32_t> used_of(const Node& node) {
  std::map<GpuIndex, std::uint32_t> used;
  for (const Gpu& gpu : node.inventory.gpus) used[gpu.index] = 0;
  for (const Charge& charge : node.charges)
    for (const GpuIndex gpu : charge.gpus) used[gpu] += held_of_each(charge.gpu_part);
  return used;
}

// Starts random parts and whole GPUs, ends some of them, and compares each start with a search
// device by device.
TEST(GpuPartsProperty, FitWhereADeviceHasEnoughLeftAndJoinTheFullest) {
  std::uint64_t joined = 0, opened = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    for (std::uint32_t i = 1 + dice.upto(3); i > 0; --i) {
      const std::string name = "n" + std::to_string(i);
      cluster.add_node(name, 2 + dice.upto(10), Bytes::gib(64));
      cluster.add_gpus(name, dice.percent(50) ? "a100" : "h100", 1 + dice.upto(2));
    }
    std::vector<JobKey> running;
    for (int step = 0; step < 40; ++step) {
      const std::string type = dice.percent(50) ? "" : "a100";
      const bool is_whole = dice.percent(20);
      const std::uint32_t thousandths = is_whole ? 1000 : 50 + 50 * dice.upto(18);
      const JobKey key = cluster.submit(is_whole ? whole(1, minutes(60), type)
                                                 : part(thousandths, minutes(60), type));
      bool fits = false;
      cluster.state.nodes.for_each([&](NodeId, const Node& node) {
        std::uint32_t cpus = 0;
        for (const Charge& charge : node.charges) cpus += charge.cpus;
        for (const auto& [gpu, used] : used_of(node))
          fits = fits || (cpus < node.inventory.cpus && used + thousandths <= 1000 &&
                          (type.empty() || node.inventory.gpus.front().type == type));
      });
      const Plan plan = cluster.plan();
      ASSERT_EQ(over_commitment(cluster.state, plan), "") << "seed " << seed;
      const Start* start = start_of(plan, key);
      ASSERT_EQ(start != nullptr, fits) << "seed " << seed << " step " << step;
      if (!start) {
        ++refused;
        cluster.state.pending.erase(key);
        cluster.state.jobs.erase(key);
        continue;
      }
      const NodeShare& share = start->nodes.front();
      const auto used = used_of(*cluster.state.nodes.find(share.node));
      const std::uint32_t before = used.at(share.gpus.front());
      if (!is_whole)
        for (const auto& [gpu, others] : used) {
          ASSERT_FALSE(others + thousandths <= 1000 && others > before) << "a fuller one had room";
          ASSERT_FALSE(others == before && others > 0 && gpu < share.gpus.front());
        }
      (before > 0 ? joined : opened) += 1;
      cluster.take(plan, kNow);
      running.push_back(key);
      for (std::size_t i = running.size(); i-- > 0;)
        if (dice.percent(8)) {
          cluster.end(running[i]);
          running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
  }
  EXPECT_GT(joined, 500u);
  EXPECT_GT(opened, 500u);
  EXPECT_GT(refused, 500u);
}

}  // namespace
}  // namespace ares::core::sched
