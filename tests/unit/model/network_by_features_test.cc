// Switches and blocks that follow from features of nodes.
#include "model/cluster/network_by_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares {
namespace {

using Features = std::vector<std::string>;
using testing::ElementsAre;

const NetworkSpec kCloud{"cloud", NetworkKind::tree, {}, {"region", "zone", "rack"}};
const NetworkSpec kCliques{"cliques", NetworkKind::block, {}, {"nvidia.com/gpu.clique"}};

TEST(NetworkByFeatures, LeafIsThePathOfTheValuesFromTheTop) {
  const Features all{"zone=a", "x=y", "rack=r1", "region=eu", "rack=r2"};
  EXPECT_EQ(leaf_by_features(kCloud, all), "eu/a/r1") << "the first of two values counts";
  EXPECT_EQ(leaf_by_features(kCliques, Features{"nvidia.com/gpu.clique=7f.1"}), "7f.1");
}

TEST(NetworkByFeatures, NodeThatLacksALevelIsInNoLeaf) {
  EXPECT_EQ(leaf_by_features(kCloud, Features{"region=eu", "zone=a"}), "");
  EXPECT_EQ(leaf_by_features(kCloud, Features{"region=eu", "zone=", "rack=r1"}), "");
  EXPECT_EQ(leaf_by_features(kCloud, Features{"region=eu", "zone", "rack=r1"}), "");
  EXPECT_EQ(leaf_by_features(kCloud, Features{"region=eu", "zones=a", "rack=r1"}), "");
  EXPECT_EQ(leaf_by_features(kCloud, Features{"region=eu", "zone=a/b", "rack=r1"}), "")
      << "it could be confused with zone a and a rack b/r1";
}

TEST(NetworkByFeatures, NodesFormTheLevels) {
  const Features a1{"region=eu", "zone=a", "rack=r1"}, b1{"region=eu", "zone=b", "rack=r1"},
      us{"region=us", "zone=a", "rack=r1"}, none{"rack=r1"};
  const std::vector<NetworkNode> nodes{
      {"n1", b1}, {"n2", a1}, {"n3", us}, {"n4", none}, {"n5", a1}};
  const NetworkSpec made = network_of_nodes(kCloud, nodes);
  const std::vector<NetworkDomain> expected{
      {"eu/a/r1", {"n2", "n5"}, {}}, {"eu/b/r1", {"n1"}, {}},   {"us/a/r1", {"n3"}, {}},
      {"eu/a", {}, {"eu/a/r1"}},     {"eu/b", {}, {"eu/b/r1"}}, {"us/a", {}, {"us/a/r1"}},
      {"eu", {}, {"eu/a", "eu/b"}},  {"us", {}, {"us/a"}}};
  EXPECT_EQ(made.domains, expected);
  EXPECT_EQ(made.name, "cloud");
  EXPECT_EQ(made.kind, NetworkKind::tree);
  EXPECT_FALSE(made.is_by_features());
}

TEST(NetworkByFeatures, BlocksHaveOneLevelAndNodesMayFormNone) {
  const Features x{"nvidia.com/gpu.clique=x"}, none;
  const std::vector<NetworkNode> nodes{{"n1", x}, {"n2", none}, {"n3", x}};
  const std::vector<NetworkDomain> expected{{"x", {"n1", "n3"}, {}}};
  EXPECT_EQ(network_of_nodes(kCliques, nodes).domains, expected);
  EXPECT_TRUE(network_of_nodes(kCloud, nodes).domains.empty());
}

}  // namespace
}  // namespace ares
