// Placement strategies: the preferences of each, compared with its definition and with the other
// strategies.
#include "core/sched/place/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "core/sched/place/score_fragmentation.h"
#include "core/sched/time/backfill.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using testing::ElementsAre;

constexpr PlacementStrategy kStrategies[] = {PlacementStrategy::binpack, PlacementStrategy::spread,
                                             PlacementStrategy::least_fragmentation};

void place_by(TestCluster& cluster, PlacementPolicy placement) {
  Partition main = cluster.partition();
  main.placement = placement;
  cluster.put(main);
}

JobSpec gpus(std::uint32_t count, std::uint32_t cpus = 1, const std::string& type = "") {
  JobSpec spec = TestCluster::spec();
  spec.cpus_per_task = cpus;
  spec.gpus_per_node = {{type, count}};
  return spec;
}

std::string node_of(const TestCluster& cluster, const JobSpec& spec) {
  TestCluster copy = cluster;
  const JobKey key = copy.submit(spec);
  const Plan plan = copy.plan();
  const Start* start = start_of(plan, key);
  return start ? node_names(copy.state, *start).front() : "";
}

void run(TestCluster& cluster, JobSpec spec, const std::string& on) {
  spec.required_nodes = {on};
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  cluster.take(plan, kNow);
}

TEST(Strategies, EachPrefersItsOwnNode) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3"}) cluster.add_node(name, 8);
  cluster.add_gpus("n3", "a100", 4);
  run(cluster, TestCluster::spec(3), "n2");
  EXPECT_EQ(node_of(cluster, TestCluster::spec(2)), "n2");
  place_by(cluster, {PlacementStrategy::spread, PlacementStrategy::binpack});
  EXPECT_EQ(node_of(cluster, TestCluster::spec(2)), "n1");  // emptier than n2, and without GPUs
}

TEST(Strategies, StrategyOfGpuJobsDoesNotAffectCpuJobs) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2"}) {
    cluster.add_node(name, 8);
    cluster.add_gpus(name, "a100", 4);
  }
  run(cluster, gpus(1), "n2");
  EXPECT_EQ(node_of(cluster, gpus(1)), "n2");
  EXPECT_EQ(node_of(cluster, TestCluster::spec(1)), "n2");
  place_by(cluster, {PlacementStrategy::binpack, PlacementStrategy::spread});
  EXPECT_EQ(node_of(cluster, gpus(1)), "n1");
  EXPECT_EQ(node_of(cluster, TestCluster::spec(1)), "n2");
}

// Jobs of two GPUs and 6 CPUs wait. A job of one GPU on n1, where one GPU is left over anyway, does
// not affect them. Binpack would place it on n2, where it would make the last pair useless.
TEST(Strategies, LeastFragmentationSparesGpusThatTheWorkloadCanUse) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2"}) {
    cluster.add_node(name, 16);
    cluster.add_gpus(name, "a100", 8);
  }
  run(cluster, gpus(3, 8), "n1");
  run(cluster, gpus(6, 10), "n2");
  JobSpec pair = gpus(2, 6);
  pair.begin = kNow + std::chrono::hours(1);
  for (int i = 0; i < 20; ++i) cluster.submit(pair);
  EXPECT_EQ(node_of(cluster, gpus(1)), "n2");
  place_by(cluster, {PlacementStrategy::binpack, PlacementStrategy::least_fragmentation});
  EXPECT_EQ(node_of(cluster, gpus(1)), "n1");
}

TEST(Strategies, ApplyToSeveralNodesToo) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3", "n4"}) cluster.add_node(name, 8);
  run(cluster, TestCluster::spec(2), "n2");
  run(cluster, TestCluster::spec(3), "n3");
  const auto nodes = [&] {
    TestCluster copy = cluster;
    const JobKey key = copy.submit(TestCluster::spec(4, 2));
    return node_names(copy.state, *start_of(copy.plan(), key));
  };
  EXPECT_THAT(nodes(), ElementsAre("n2", "n3"));
  place_by(cluster, {PlacementStrategy::spread, PlacementStrategy::spread});
  EXPECT_THAT(nodes(), ElementsAre("n1", "n4"));
}

TEST(Strategies, PackingLeavesMoreWholeNodesFreeThanSpreading) {
  std::int64_t packed = 0, spread = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto whole_nodes = [&](PlacementStrategy strategy) {
      Random dice(seed);
      TestCluster cluster;
      for (int i = 1; i <= 12; ++i) {
        const std::string name = "n" + std::to_string(i);
        cluster.add_node(name, 16, Bytes::gib(64));
        if (i % 2 == 0) cluster.add_gpus(name, "a100", 8);
      }
      place_by(cluster, {strategy, strategy});
      for (int i = 0; i < 14; ++i)
        cluster.submit(dice.percent(50) ? gpus(1 + dice.upto(2), 1 + dice.upto(2))
                                        : TestCluster::spec(1 + dice.upto(5)));
      cluster.take(cluster.plan(), kNow);
      std::int64_t whole = 0;
      cluster.state.nodes.for_each(
          [&](NodeId, const Node& node) { whole += node.charges.empty() ? 1 : 0; });
      return whole;
    };
    const std::int64_t by_packing = whole_nodes(PlacementStrategy::binpack);
    const std::int64_t by_spreading = whole_nodes(PlacementStrategy::spread);
    ASSERT_GE(by_packing, by_spreading) << "seed " << seed;
    packed += by_packing;
    spread += by_spreading;
  }
  EXPECT_GT(packed, 2 * spread);
}

// --- workload histogram --------------------------------------------------------------

constexpr std::size_t kStride = 5;  // CPUs, memory, three types of GPUs

struct Counted {
  WorkloadHistogram::Class share;
  std::int64_t count;
};

std::vector<Counted> random_mix(Random& dice) {
  std::vector<Counted> workload;
  for (std::uint32_t i = dice.upto(20); i > 0; --i) {
    WorkloadHistogram::Class share(kStride + 2, 0);
    share[kCpus] = 1 + dice.upto(7);
    share[kMemory] = dice.upto(4);
    for (std::size_t c = kFirstGpu; c < kStride; ++c)
      if (dice.percent(30)) share[c] = dice.upto(3);
    if (dice.percent(30)) share[kStride] = 1 + dice.upto(3);
    if (dice.percent(30)) {  // a part of one GPU
      std::fill(share.begin() + kFirstGpu, share.end(), 0);
      share[kFirstGpu + dice.upto(kStride - kFirstGpu)] = 1;
      share[kStride + 1] = 100 + 100 * dice.upto(8);
    }
    workload.push_back({share, 1 + dice.upto(9)});
  }
  return workload;
}

// F(n) exactly as in the paper, in thousandths of GPUs: for a class that fits on the node, the GPUs
// of each type that it could use are not useless.
std::int64_t slow_useless(const std::vector<Counted>& workload, const Amounts& free,
                          const std::vector<SharedGpu>& shared = {}) {
  std::int64_t sum = 0;
  for (const Counted& m : workload) {
    if (const std::int64_t part = m.share[kStride + 1]; part > 0) {
      const bool fits = m.share[kCpus] <= free[kCpus] && m.share[kMemory] <= free[kMemory];
      const auto add = [&](std::size_t c, std::int64_t rest) {
        const bool of_its_type = m.share[c] > 0 || m.share[kStride] > 0;
        if (!fits || !of_its_type || rest < part) sum += m.count * rest;
      };
      for (std::size_t c = kFirstGpu; c < kStride; ++c)
        for (std::int64_t gpu = 0; gpu < free[c]; ++gpu) add(c, kWholeGpu);
      for (const SharedGpu& one : shared) add(one.column, kWholeGpu - one.used);
      continue;
    }
    for (const SharedGpu& one : shared) sum += m.count * (kWholeGpu - one.used);
    bool fits = true, asks = m.share[kStride] > 0, any_found = false;
    std::set<std::size_t> useful;
    for (std::size_t c = 0; c < kStride; ++c) {
      fits = fits && m.share[c] <= free[c];
      if (c < kFirstGpu) continue;
      asks = asks || m.share[c] > 0;
      if (m.share[c] > 0) useful.insert(c);
      if (m.share[kStride] > 0 && free[c] >= m.share[c] + m.share[kStride]) {
        useful.insert(c);
        any_found = true;
      }
    }
    fits = fits && (m.share[kStride] == 0 || any_found);
    for (std::size_t c = kFirstGpu; c < kStride; ++c)
      for (std::int64_t gpu = 0; gpu < free[c]; ++gpu)
        if (!asks || !fits || !useful.contains(c)) sum += m.count * kWholeGpu;
  }
  return sum;
}

TEST(WorkloadHistogram, GrowthEqualsTheDefinition) {
  std::int64_t changes = 0;
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    Random dice(seed);
    const std::vector<Counted> counted = random_mix(dice);
    WorkloadHistogram workload;
    for (const Counted& m : counted) workload.add(m.share, m.count);
    workload.settle();
    Amounts free(kStride), take(kStride), left(kStride);
    for (std::size_t c = 0; c < kStride; ++c) {
      free[c] = dice.upto(c < kFirstGpu ? 10 : 4);
      take[c] = dice.upto(static_cast<std::uint32_t>(free[c]));
      left[c] = free[c] - take[c];
    }
    ASSERT_EQ(workload.useless(free), slow_useless(counted, free)) << "seed " << seed;
    const std::int64_t growth = slow_useless(counted, left) - slow_useless(counted, free);
    ASSERT_EQ(workload.growth(free, take), growth) << "seed " << seed;
    changes += growth != 0;
  }
  EXPECT_GT(changes, 2000);
}

std::vector<SharedGpu> random_shared(Random& dice) {
  std::vector<SharedGpu> shared;
  for (std::uint16_t i = 0; i < dice.upto(4); ++i)
    shared.push_back({GpuIndex(i),
                      kFirstGpu + dice.upto(static_cast<std::uint32_t>(kStride - kFirstGpu - 1)),
                      100 + 100 * dice.upto(9)});
  return shared;
}

TEST(WorkloadHistogram, GrowthOfAPartEqualsTheDefinition) {
  std::int64_t joins = 0, opens = 0;
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    Random dice(seed);
    const std::vector<Counted> counted = random_mix(dice);
    WorkloadHistogram workload;
    for (const Counted& m : counted) workload.add(m.share, m.count);
    workload.settle();
    Amounts free(kStride), take(kStride);
    for (std::size_t c = 0; c < kStride; ++c) free[c] = dice.upto(c < kFirstGpu ? 10 : 4);
    std::vector<SharedGpu> shared = random_shared(dice);
    const std::int64_t before = slow_useless(counted, free, shared);
    ASSERT_EQ(workload.useless(free, shared), before) << "seed " << seed;
    TakenPart part{kFirstGpu + dice.upto(kStride - kFirstGpu - 1), 100 + 100 * dice.upto(8)};
    take[kCpus] = dice.upto(static_cast<std::uint32_t>(free[kCpus]));
    take[part.column] = 1;
    Amounts left = free, offered = free;
    std::vector<SharedGpu> then = shared;
    const auto room = std::find_if(then.begin(), then.end(), [&](const SharedGpu& one) {
      return one.column == part.column && one.used + part.thousandths <= kWholeGpu;
    });
    if (room != then.end()) {
      part.left = kWholeGpu - room->used;
      room->used += static_cast<std::uint32_t>(part.thousandths);
      ++offered[part.column];
      ++joins;
    } else if (free[part.column] > 0) {
      then.push_back({GpuIndex(9), part.column, static_cast<std::uint32_t>(part.thousandths)});
      --left[part.column];
      ++opens;
    } else {
      continue;
    }
    left[kCpus] -= take[kCpus];
    ASSERT_EQ(workload.growth(offered, take, shared, part),
              slow_useless(counted, left, then) - before)
        << "seed " << seed;
  }
  EXPECT_GT(joins, 500);
  EXPECT_GT(opens, 500);
}

TEST(WorkloadHistogram, OnlyTheMostFrequentClassesCount) {
  WorkloadHistogram workload;
  std::vector<Counted> kept;  // the last ones are the most frequent
  for (std::int64_t i = 0; i < 80; ++i) kept.push_back({{1 + i, 0, 1, 0, 0, 0, 0}, 10 + i});
  for (const Counted& m : kept) workload.add(m.share, m.count);
  workload.settle();
  kept.erase(kept.begin(), kept.begin() + 80 - kMaxClasses);
  const Amounts free{30, 0, 4, 2, 0};
  EXPECT_EQ(workload.useless(free), slow_useless(kept, free));
}

TEST(WorkloadHistogram, FollowsWaitingAndRunningJobs) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    cluster.add_node("n1", 16, Bytes::gib(64));
    cluster.add_gpus("n1", "a100", 8);
    ClusterIndex index(cluster.state);
    WorkloadHistogram kept;
    ClusterState before = cluster.state;
    kept.update({}, before, index);
    std::vector<JobKey> keys;
    for (int step = 0; step < 20; ++step) {
      JobSpec spec =
          dice.percent(60) ? gpus(1 + dice.upto(1)) : TestCluster::spec(1 + dice.upto(2));
      if (dice.percent(20)) spec.array.emplace().insert(0, dice.upto(5));
      keys.push_back(cluster.submit(spec));
      Job job =
          *cluster.state.jobs.find(keys[dice.upto(static_cast<std::uint32_t>(keys.size()) - 1)]);
      switch (dice.upto(2)) {
        case 0: job.hold = job.hold == Hold::none ? Hold::user : Hold::none; break;
        case 1: job.state = JobState::running; break;
        default: job.state = JobState::completed;
      }
      cluster.put(job);
      kept.update(before, cluster.state, index);
      before = cluster.state;
      WorkloadHistogram anew;
      anew.update({}, before, index);
      ASSERT_EQ(kept, anew) << "seed " << seed << " step " << step;
    }
  }
}

// The strategy chooses among nodes of all types, not among those of the type whose name comes
// first.
TEST(SingleNodeFit, UntypedGpusGetTheTypeOfTheBestNode) {
  TestCluster cluster;
  cluster.add_node("n1", 8);
  cluster.add_gpus("n1", "a100", 4);
  cluster.add_node("n2", 8);
  cluster.add_gpus("n2", "h100", 1);
  const JobKey key = cluster.submit(gpus(1, 1, ""));
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(node_names(cluster.state, *start_of(plan, key)), std::vector<std::string>{"n2"});
}

// On either node some GPUs become useless for one of the classes. As long as that class is rare,
// the fuller node is chosen, although slightly fewer GPUs would become useless on the other one.
TEST(LeastFragmentation, TakesTheFullestOfNearlyEqualNodes) {
  for (const std::int64_t rare : {3, 500}) {
    TestCluster cluster;
    cluster.add_node("n1", 8, Bytes::gib(8));
    cluster.add_gpus("n1", "a100", 4);
    cluster.add_node("n2", 6, Bytes::gib(8));
    cluster.add_gpus("n2", "a100", 4);
    ClusterIndex index(cluster.state);
    WorkloadHistogram workload;
    workload.add(WorkloadHistogram::Class{8, 0, 1, 0, 0}, 1);
    workload.add(WorkloadHistogram::Class{6, 0, 1, 0, 0}, rare);
    workload.add(WorkloadHistogram::Class{1, 0, 1, 0, 0}, 1000);
    workload.settle();
    index.set_workload(&workload);
    Partition main = cluster.partition();
    main.placement = {PlacementStrategy::least_fragmentation,
                      PlacementStrategy::least_fragmentation};
    const Demand demand = make_demand(gpus(1, 1, "a100"), main, index);
    SingleNodeFit one(demand, index.stride());
    for (NodeIndex at = 0; at < index.nodes().size(); ++at)
      one.add({at, index.nodes()[at].free, index.nodes()[at].total, false});
    ASSERT_TRUE(one.placement());
    EXPECT_EQ(index.nodes()[one.placement()->front().node].node->name, rare == 3 ? "n2" : "n1");
  }
}

// The single pass over the offers and the general search must choose the same node.
TEST(SingleNodeFit, EqualsTheGeneralSearch) {
  int placed = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    for (int i = 1; i <= 8; ++i) {
      const std::string name = "n" + std::to_string(i);
      cluster.add_node(name, 4 + dice.upto(8), Bytes::gib(8));
      if (dice.percent(60)) cluster.add_gpus(name, "a100", 1 + dice.upto(3));
    }
    ClusterIndex index(cluster.state);
    WorkloadHistogram workload;
    workload.add(WorkloadHistogram::Class{2, 0, 2, 0, 0}, 5);
    workload.add(WorkloadHistogram::Class{6, 0, 1, 0, 0}, 3);
    workload.settle();
    index.set_workload(&workload);
    Partition main = cluster.partition();
    main.placement = {kStrategies[seed % 3], kStrategies[seed % 3]};
    JobSpec spec = dice.percent(60) ? gpus(1 + dice.upto(2), 1 + dice.upto(3), "a100")
                                    : TestCluster::spec(1 + dice.upto(4));
    if (dice.percent(20)) spec.exclusive = true;
    const Demand demand = make_demand(spec, main, index);
    if (demand.unknown_gpu_type) continue;
    std::vector<NodeOffer> offers;
    SingleNodeFit one(demand, index.stride());
    ASSERT_TRUE(SingleNodeFit::suits(demand));
    for (NodeIndex at = 0; at < index.nodes().size(); ++at) {
      const IndexedNode& node = index.nodes()[at];
      offers.push_back({at, node.free, node.total, false});
      one.add(offers.back());
    }
    const auto by_one = one.placement(), by_all = fit(demand, offers);
    ASSERT_EQ(by_one.has_value(), by_all.has_value()) << "seed " << seed;
    if (!by_one) continue;
    ++placed;
    ASSERT_EQ(by_one->front().node, by_all->front().node) << "seed " << seed;
    ASSERT_EQ(by_one->front().amounts, by_all->front().amounts) << "seed " << seed;
  }
  EXPECT_GT(placed, 400);
}

}  // namespace
}  // namespace ares::core::sched
