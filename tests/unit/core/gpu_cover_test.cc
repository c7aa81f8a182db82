#include "core/job/checks/gpu_cover.h"

#include <gtest/gtest.h>

#include <random>

namespace ares::core {
namespace {

TEST(GpuCover, NodesOfOneTypeEachAreCountedForEachType) {
  const NodesByGpus nodes{{{4, 0}, 10}, {{0, 8}, 10}};
  EXPECT_EQ(fewest_nodes(nodes, {4, 4}), 2u);
  EXPECT_EQ(fewest_nodes(nodes, {9, 16}), 5u);
  EXPECT_EQ(fewest_nodes(nodes, {40, 80}), 20u);
  EXPECT_EQ(fewest_nodes(nodes, {41, 1}), std::nullopt);
}

TEST(GpuCover, OneTypeTakesTheLargestNodes) {
  EXPECT_EQ(fewest_nodes({{{2}, 10}, {{8}, 2}, {{0}, 5}}, {17}), 3u);
  EXPECT_EQ(fewest_nodes({{{2}, 10}}, {21}), std::nullopt);
  EXPECT_EQ(fewest_nodes({}, {1}), std::nullopt);
}

TEST(GpuCover, NodesOfSeveralTypesAreTakenWhereTheySaveNodes) {
  const NodesByGpus nodes{{{4, 0}, 2}, {{0, 4}, 1}, {{2, 2}, 1}};
  EXPECT_EQ(fewest_nodes(nodes, {1, 1}), 1u);
  EXPECT_EQ(fewest_nodes(nodes, {3, 3}), 2u) << "not the one with both";
  EXPECT_EQ(fewest_nodes(nodes, {6, 2}), 2u);
  EXPECT_EQ(fewest_nodes(nodes, {6, 6}), 3u);
  EXPECT_EQ(fewest_nodes(nodes, {10, 6}), 4u);
}

TEST(GpuCover, IsThatOfAllSubsets) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<GpuCounts> all(random() % 8 + 1, GpuCounts(3));
    NodesByGpus nodes;
    for (GpuCounts& node : all) {
      for (std::uint64_t& gpus : node) gpus = random() % 2 ? random() % 5 : 0;
      ++nodes[node];
    }
    const GpuCounts wanted{random() % 9 + 1, random() % 9 + 1, random() % 5 + 1};
    std::optional<std::uint64_t> fewest;
    for (unsigned set = 0; set < 1u << all.size(); ++set) {
      GpuCounts sum(3, 0);
      for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t type = 0; type < 3; ++type) sum[type] += set >> i & 1 ? all[i][type] : 0;
      const auto size = static_cast<std::uint64_t>(__builtin_popcount(set));
      if (sum[0] >= wanted[0] && sum[1] >= wanted[1] && sum[2] >= wanted[2])
        fewest = std::min(fewest.value_or(size), size);
    }
    EXPECT_EQ(fewest_nodes(nodes, wanted), fewest) << round;
  }
}

// Too many combinations to try: the answer must come soon, and must not exceed the fewest.
TEST(GpuCover, ManyKindsOfNodesGiveALowerBoundSoon) {
  NodesByGpus nodes;
  for (std::uint64_t kind = 1; kind <= 40; ++kind) nodes[{kind, 41 - kind, kind % 7 + 1}] = 1000;
  const auto fewest = fewest_nodes(nodes, {200'000, 200'000, 20'000});
  ASSERT_TRUE(fewest);
  EXPECT_LE(*fewest, 10'000u) << "5000 nodes each of 40 and 1, and of 1 and 40";
  EXPECT_GE(*fewest, 5'000u);
}

}  // namespace
}  // namespace ares::core
