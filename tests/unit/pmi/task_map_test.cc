#include "pmi/task_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <random>

namespace ares::pmi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TaskMap map_of(std::vector<std::vector<std::uint32_t>> ranks_by_node) {
  TaskMap map{.ranks_by_node = std::move(ranks_by_node)};
  for (const auto& ranks : map.ranks_by_node) map.size += ranks.size();
  return map;
}

// The nodes of all ranks as MPICH reads them from a mapping without blanks.
std::vector<std::uint32_t> read_mapping(const std::string& text, std::uint32_t size) {
  std::vector<std::uint32_t> nodes;
  std::vector<std::array<unsigned, 3>> blocks;
  const char* at = text.c_str() + std::string_view("(vector").size();
  for (unsigned node, count, ranks; std::sscanf(at, ",(%u,%u,%u)", &node, &count, &ranks) == 3;) {
    blocks.push_back({node, count, ranks});
    at = std::strchr(at, ')') + 1;
  }
  EXPECT_STREQ(at, ")") << text;
  for (bool wrapped = false;;) {
    std::size_t first = 0;
    while (wrapped && blocks[first][0] != 0) ++first;
    for (std::size_t i = first; i < blocks.size(); ++i) {
      wrapped |= blocks[i][0] == 0;
      for (unsigned node = 0; node < blocks[i][1]; ++node)
        for (unsigned rank = 0; rank < blocks[i][2]; ++rank) {
          nodes.push_back(blocks[i][0] + node);
          if (nodes.size() == size) return nodes;
        }
    }
  }
}

TEST(TaskMap, AMappingNamesNodesAndRanksOnEach) {
  EXPECT_EQ(process_mapping(map_of({{0}})), "(vector,(0,1,1))");
  EXPECT_EQ(process_mapping(map_of({{0, 1}, {2, 3}})), "(vector,(0,2,2))");
  EXPECT_EQ(process_mapping(map_of({{0, 1, 2}, {3, 4}, {5, 6}})), "(vector,(0,1,3),(1,2,2))");
  EXPECT_EQ(process_mapping(map_of({{2, 3}, {0, 1}})), "(vector,(1,1,2),(0,1,2))");
}

TEST(TaskMap, ACyclicMappingIsNamedOnce) {
  EXPECT_EQ(process_mapping(map_of({{0, 2}, {1, 3}})), "(vector,(0,2,1))");
  EXPECT_EQ(process_mapping(map_of({{0, 3, 6}, {1, 4}, {2, 5}})), "(vector,(0,3,1))");
}

TEST(TaskMap, MpichFindsTheNodeOfEachRankInAnyMapping) {
  std::mt19937 random(18);
  for (int round = 0; round < 2000; ++round) {
    const std::uint32_t nodes = 1 + random() % 5, size = nodes + random() % 20;
    // Cyclic, in blocks, or at random; each node has a rank.
    const int kind = static_cast<int>(random() % 3);
    TaskMap map{.size = size, .ranks_by_node = std::vector<std::vector<std::uint32_t>>(nodes)};
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      const std::uint32_t node = kind == 0      ? rank % nodes
                                 : kind == 1    ? rank * nodes / size
                                 : rank < nodes ? nodes - 1 - rank
                                                : random() % nodes;
      map.ranks_by_node[node].push_back(rank);
    }
    ASSERT_TRUE(check(map));
    EXPECT_EQ(read_mapping(process_mapping(map), size), nodes_of_ranks(map))
        << process_mapping(map);
  }
}

TEST(TaskMap, AWrongMapIsRefused) {
  const auto why = [](TaskMap map) {
    const Status status = check(map);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(why(map_of({{0, 1}, {2}})), "");
  EXPECT_THAT(why({}), HasSubstr("no ranks"));
  EXPECT_THAT(why({.size = 1, .ranks_by_node = {{0}}, .this_node = 1}), HasSubstr("node 1"));
  EXPECT_THAT(why(map_of({{0}, {}})), HasSubstr("node 1 has no rank"));
  EXPECT_THAT(why(map_of({{1, 0}})), HasSubstr("not in order"));
  EXPECT_THAT(why(map_of({{0, 2}})), HasSubstr("rank 2 of 2"));
  EXPECT_THAT(why(map_of({{0}, {0}})), HasSubstr("rank 0 runs twice"));
  EXPECT_THAT(why({.size = 3, .ranks_by_node = {{0, 1}}}), HasSubstr("1 ranks run on no node"));
}

TEST(TaskMap, TheEnvironmentNamesConnectionAndPlaceOfARank) {
  TaskMap map = map_of({{0, 1}, {2, 3}});
  map.this_node = 1;
  EXPECT_THAT(environment(map, 3, 7),
              ElementsAre(Pair("PMI_FD", "7"), Pair("PMI_RANK", "3"), Pair("PMI_SIZE", "4"),
                          Pair("MPI_LOCALRANKID", "1"), Pair("MPI_LOCALNRANKS", "2")));
}

}  // namespace
}  // namespace ares::pmi
