#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "model/cluster/node_share.h"

namespace ares {
namespace {

NodeShare share(std::uint32_t node, std::uint32_t cpus = 1) {
  NodeShare made;
  made.node = NodeId(node);
  made.cpus = cpus;
  return made;
}

// After any operations on it and on its copies, each equals a plain vector.
TEST(NodeShares, BehaveLikeAVector) {
  std::mt19937_64 dice(1);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(dice() % n); };
  for (int round = 0; round < 50; ++round) {
    std::vector<NodeShare> first;
    for (std::size_t left = below(100); left > 0; --left)
      first.push_back(share(static_cast<std::uint32_t>(left)));
    std::vector<NodeShares> ours{NodeShares(first)};
    std::vector<std::vector<NodeShare>> plain{first};
    for (std::uint32_t step = 1; step <= 100; ++step) {
      const std::size_t which = below(ours.size());
      NodeShares& our = ours[which];
      std::vector<NodeShare>& vector = plain[which];
      switch (below(5)) {
        case 0:
          if (vector.empty()) break;
          if (const std::size_t at = below(vector.size()); true) {
            our.change(at, [&](NodeShare& one) { one.cpus = step; });
            vector[at].cpus = step;
          }
          break;
        case 1:
          our.push_back(share(step));
          vector.push_back(share(step));
          break;
        case 2:
          our.change_each([](NodeShare& one) { ++one.tasks; });
          for (NodeShare& one : vector) ++one.tasks;
          break;
        case 3:
          if (const std::size_t other = below(ours.size()); other != which) {
            our = std::move(ours[other]);
            vector = std::exchange(plain[other], {});
          }
          break;
        default: ours.push_back(NodeShares(our)); plain.push_back(std::vector(vector));
      }
    }
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ASSERT_TRUE(std::equal(ours[i].begin(), ours[i].end(), plain[i].begin(), plain[i].end()));
      ASSERT_EQ(ours[i].size(), plain[i].size());
      ASSERT_EQ(ours[i].empty(), plain[i].empty());
      ASSERT_TRUE(ours[i] == NodeShares(plain[i]));
      for (std::size_t other = 0; other < ours.size(); ++other)
        ASSERT_EQ(ours[i] == ours[other], plain[i] == plain[other]);
      if (plain[i].empty()) continue;
      ASSERT_EQ(ours[i].front(), plain[i].front());
      ASSERT_EQ(ours[i].back(), plain[i].back());
      ASSERT_EQ(*(ours[i].end() - 1), plain[i].back());
    }
  }
}

// Copies share their parts: a change copies only the part that it is in.
TEST(NodeShares, ChangeCopiesOnePartOnly) {
  std::vector<NodeShare> many;
  for (std::uint32_t i = 0; i < 1000; ++i) many.push_back(share(i));
  const NodeShares before(many);
  NodeShares after = before;
  after.change(500, [](NodeShare& one) { one.phase = SharePhase::running; });
  std::size_t moved = 0;
  for (std::size_t i = 0; i < many.size(); ++i) moved += &before[i] != &after[i];
  EXPECT_GE(moved, 1u);
  EXPECT_LE(moved, 16u);
  EXPECT_EQ(before[500].phase, SharePhase::preparing);
}

}  // namespace
}  // namespace ares
