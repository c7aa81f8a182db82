// Tests: model/network
// pack() on trees and blocks, compared with all possible choices.
#include "core/topology/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace ares::core::topology {
namespace {

using testing::ElementsAre;

std::optional<Network::Node> number_of(const std::string& name) {
  return static_cast<Network::Node>(std::stoul(name.substr(1)));
}

NetworkDomain leaf(std::string name, std::vector<std::string> nodes) {
  return {std::move(name), std::move(nodes), {}};
}
NetworkDomain above(std::string name, std::vector<std::string> switches) {
  return {std::move(name), {}, std::move(switches)};
}

// Two pods of two leaves each: n0 n1
// n2 n3 n4 || n5 n6
// n7 n8 n9.
const NetworkSpec kPods{
    "pods",
    NetworkKind::tree,
    {above("core", {"p1", "p2"}), above("p1", {"a", "b"}), above("p2", {"c", "d"}),
     leaf("a", {"n0", "n1"}), leaf("b", {"n2", "n3", "n4"}), leaf("c", {"n5", "n6"}),
     leaf("d", {"n7", "n8", "n9"})}};

std::vector<NodeCandidate> offers(const std::vector<Network::Node>& nodes,
                                  const std::set<Network::Node>& required = {}) {
  std::vector<NodeCandidate> out;
  for (const Network::Node node : nodes) out.push_back({node, required.contains(node)});
  return out;
}

std::vector<Network::Node> packed(const NetworkSpec& spec, const std::vector<NodeCandidate>& from,
                                  std::uint32_t count, PackLimits limits = {}) {
  const auto taken = pack(Network(spec, number_of), from, count, limits);
  std::vector<Network::Node> nodes;
  if (taken)
    for (const std::uint32_t i : *taken) nodes.push_back(from[i].node);
  return nodes;
}

TEST(Network, LeavesOfOneSwitchAreContiguousAndTheRootComesLast) {
  const Network network(kPods, number_of);
  EXPECT_EQ(network.leaves(), 4u);
  EXPECT_EQ(network.leaf_of(1), 0u);
  EXPECT_EQ(network.leaf_of(9), 3u);
  EXPECT_EQ(network.leaf_of(10), Network::kNoLeaf);
  ASSERT_EQ(network.domains().size(), 7u);
  EXPECT_EQ(network.domains()[4].height, 1u);
  EXPECT_EQ(network.domains().back().end, 4u);
  EXPECT_EQ(network.domains().back().height, 2u);
}

TEST(Pack, TakesTheFullestLeafThatFitsThenTheLowestSwitch) {
  const auto all = offers({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_THAT(packed(kPods, all, 2), ElementsAre(0, 1));
  EXPECT_THAT(packed(kPods, all, 3), ElementsAre(2, 3, 4));
  EXPECT_THAT(packed(kPods, all, 4), ElementsAre(0, 2, 3, 4));
  // Leaves c and d are under one switch and are fuller than a and b.
  EXPECT_THAT(packed(kPods, offers({0, 1, 2, 3, 4, 5, 7, 8, 9}), 4), ElementsAre(5, 7, 8, 9));
  EXPECT_THAT(packed(kPods, all, 7), ElementsAre(0, 2, 3, 4, 7, 8, 9));
  EXPECT_THAT(packed(kPods, all, 11), ElementsAre());
}

TEST(Pack, OrderOfOffersDecidesWithinALeaf) {
  EXPECT_THAT(packed(kPods, offers({9, 4, 2, 3, 8, 7}), 2), ElementsAre(2, 4));
}

TEST(Pack, IncludesRequiredNodes) {
  EXPECT_THAT(packed(kPods, offers({0, 1, 2, 3, 4, 5, 6}, {3}), 2), ElementsAre(2, 3));
  EXPECT_THAT(packed(kPods, offers({0, 1, 2, 3, 4, 5, 6}, {0, 6}), 2), ElementsAre(0, 6));
}

TEST(Pack, RespectsTheLeafLimitAndWholeSegments) {
  const auto all = offers({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_THAT(packed(kPods, all, 4, {1, 1}), ElementsAre());
  EXPECT_THAT(packed(kPods, all, 4, {2, 1}), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(packed(kPods, all, 4, {0, 2}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(packed(kPods, all, 6, {0, 3}), ElementsAre(2, 3, 4, 7, 8, 9));
  EXPECT_THAT(packed(kPods, all, 8, {0, 4}), ElementsAre());
  EXPECT_THAT(packed(kPods, all, 3, {0, 2}), ElementsAre());
}

TEST(Pack, NodesOutsideTheNetworkAreUsedLast) {
  const auto some = offers({0, 1, 20, 21, 22});
  EXPECT_THAT(packed(kPods, some, 2), ElementsAre(0, 1));
  EXPECT_THAT(packed(kPods, some, 4), ElementsAre(0, 20, 21, 22));
  EXPECT_THAT(packed(kPods, some, 3, {1, 1}), ElementsAre());
}

// --- compared with brute force ----------------------------------------------------------

struct Case {
  NetworkSpec spec;
  // Nodes under each switch or block.
  std::map<std::string, std::set<Network::Node>> below;
  std::map<std::string, std::uint32_t> height;
  std::vector<NodeCandidate> from;
  std::uint32_t count = 0;
  PackLimits limits;
};

Case random_case(std::mt19937& dice) {
  const auto upto = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(dice() % (most + 1));
  };
  Case c;
  const bool tree = upto(2) > 0;
  c.spec.kind = tree ? NetworkKind::tree : NetworkKind::block;
  Network::Node next = 0;
  std::vector<std::string> level;
  for (std::uint32_t i = 0; i <= 1 + upto(3); ++i) {
    NetworkDomain domain = leaf("leaf" + std::to_string(i), {});
    for (std::uint32_t n = 1 + upto(3); n > 0 && next < 11; --n)
      domain.nodes.push_back("n" + std::to_string(next++));
    if (domain.nodes.empty()) break;
    for (const std::string& name : domain.nodes) c.below[domain.name].insert(*number_of(name));
    c.height[domain.name] = 0;
    level.push_back(domain.name);
    c.spec.domains.push_back(std::move(domain));
  }
  for (std::uint32_t height = 1; tree && level.size() > 1 && height < 4; ++height) {
    std::vector<std::string> higher;
    for (std::size_t i = 0; i < level.size();) {
      NetworkDomain domain = above("s" + std::to_string(height) + "_" + std::to_string(i), {});
      c.height[domain.name] = height;
      for (std::uint32_t n = 1 + upto(2); n > 0 && i < level.size(); --n, ++i) {
        domain.switches.push_back(level[i]);
        c.below[domain.name].insert(c.below[level[i]].begin(), c.below[level[i]].end());
      }
      higher.push_back(domain.name);
      c.spec.domains.push_back(std::move(domain));
    }
    level = std::move(higher);
  }
  c.height["all"] = 99;
  for (Network::Node node = 0; node < next; ++node) {
    c.below["all"].insert(node);
    if (upto(4) > 0) c.from.push_back({node, upto(9) == 0});
  }
  std::shuffle(c.from.begin(), c.from.end(), dice);
  c.count = 1 + upto(5);
  if (upto(2) == 0) c.limits.max_leaves = 1 + upto(2);
  if (upto(2) == 0) {
    c.limits.segment = 1 + upto(2);
    c.count = c.limits.segment * (1 + upto(2));
  }
  return c;
}

// The number of leaves that a set of nodes uses; nothing if the set breaks a limit or lacks a
// required node.
std::optional<std::uint32_t> leaves_of(const Case& c, const std::set<Network::Node>& nodes) {
  std::uint32_t leaves = 0;
  for (const NetworkDomain& domain : c.spec.domains) {
    if (domain.nodes.empty()) continue;
    std::uint32_t here = 0;
    for (const std::string& name : domain.nodes) here += nodes.contains(*number_of(name));
    if (here % std::max(c.limits.segment, 1u) != 0) return std::nullopt;
    leaves += here > 0;
  }
  if (c.limits.max_leaves > 0 && leaves > c.limits.max_leaves) return std::nullopt;
  for (const NodeCandidate& offer : c.from)
    if (offer.required && !nodes.contains(offer.node)) return std::nullopt;
  return leaves;
}

// Lower is better: height of the lowest switch above all nodes, offers below it, leaves used.
using Worth = std::tuple<std::uint32_t, std::size_t, std::uint32_t>;

std::optional<Worth> worth_of(const Case& c, const std::set<Network::Node>& nodes) {
  const auto leaves = leaves_of(c, nodes);
  if (!leaves) return std::nullopt;
  std::optional<Worth> best;
  for (const auto& [name, below] : c.below) {
    if (!std::includes(below.begin(), below.end(), nodes.begin(), nodes.end())) continue;
    const auto there = std::count_if(
        c.from.begin(), c.from.end(),
        [&nodes_below = below](const NodeCandidate& o) { return nodes_below.contains(o.node); });
    const Worth worth{c.height.at(name), static_cast<std::size_t>(there), *leaves};
    if (!best || worth < *best) best = worth;
  }
  return best;
}

std::optional<Worth> best_of_all(const Case& c) {
  std::optional<Worth> best;
  for (std::uint32_t mask = 0; mask < 1u << c.from.size(); ++mask) {
    if (static_cast<std::uint32_t>(__builtin_popcount(mask)) != c.count) continue;
    std::set<Network::Node> nodes;
    for (std::size_t i = 0; i < c.from.size(); ++i)
      if (mask >> i & 1) nodes.insert(c.from[i].node);
    const auto worth = worth_of(c, nodes);
    if (worth && (!best || *worth < *best)) best = worth;
  }
  return best;
}

TEST(PackProperty, NoCloserChoiceExists) {
  int possible = 0, limited = 0;
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937 dice(seed);
    const Case c = random_case(dice);
    const auto best = best_of_all(c);
    const auto taken = pack(Network(c.spec, number_of), c.from, c.count, c.limits);
    ASSERT_EQ(taken.has_value(), best.has_value()) << "seed " << seed;
    if (!taken) continue;
    ++possible;
    limited += c.limits.max_leaves > 0 || c.limits.segment > 1;
    std::set<Network::Node> nodes;
    for (const std::uint32_t i : *taken) nodes.insert(c.from[i].node);
    ASSERT_EQ(nodes.size(), c.count) << "seed " << seed;
    ASSERT_EQ(worth_of(c, nodes), best) << "seed " << seed;
  }
  EXPECT_GT(possible, 1000);
  EXPECT_GT(limited, 300);
}

}  // namespace
}  // namespace ares::core::topology
