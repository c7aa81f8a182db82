// topology.yaml and the keys of partitions that refer to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/diff.h"
#include "config/read.h"

namespace ares::config {
namespace {

std::optional<UserId> test_user(const std::string& name) {
  return name == "root" ? std::optional(UserId(0)) : numeric_user(name);
}

std::string main_partition(const std::string& keys) {
  return "topology_file: topology.yaml\n"
         "nodes:\n  - {name: \"n[1-4]\", cpus: 4, memory: 4000M}\n"
         "partitions:\n  - {name: main, nodes: ALL" +
         keys + "}\n";
}
const std::string kMain = main_partition(", topology: fabric");

const std::string kFabric = R"(topologies:
  - name: fabric
    tree:
      - {switch: leaf1, nodes: "n[1-2]"}
      - {switch: leaf2, nodes: "n[3-4]"}
      - {switch: spine, switches: "leaf[1-2]"}
  - name: racks
    block:
      - {block: r1, nodes: "n[1-4]"}
)";

Result<Config> read(const std::string& text, const std::string& topology) {
  return read_config(text, "/etc/ares/ares.yaml", test_user,
                     [&](const std::string& path) -> Result<std::string> {
                       EXPECT_EQ(path, "/etc/ares/topology.yaml");
                       return topology;
                     });
}

Config good(const std::string& text, const std::string& topology) {
  auto config = read(text, topology);
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(Config{});
}

std::string refusal(const std::string& topology, const std::string& text = kMain) {
  const auto config = read(text, topology);
  return config ? "accepted" : config.error().message;
}

TEST(TopologyFile, IsPartOfAPortableConfiguration) {
  const Config config = good("controller: {admins: [root]}\n" + kMain, kFabric);
  const PortableConfig portable = to_portable(config);
  EXPECT_EQ(portable.yaml.find("admins: [root]"), std::string::npos) << portable.yaml;
  const auto again = parse(portable, "dump");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->policy.networks, config.policy.networks);
  EXPECT_EQ(again->partitions, config.partitions);
  EXPECT_EQ(again->policy.config_hash, config.policy.config_hash);
}

TEST(TopologyFile, UnreadableFileIsNamedWithTheLineOfItsKey) {
  const auto config =
      read_config("cluster: c\n" + kMain, "/etc/ares/ares.yaml", test_user,
                  [&](const std::string& path) { return read_file(path + ".is.not.here"); });
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ErrorCode::not_found);
  EXPECT_EQ(config.error().message,
            "/etc/ares/ares.yaml:2: topology_file: cannot read "
            "/etc/ares/topology.yaml.is.not.here: No such file or directory");
}

// A file with a tree named fabric that has these lines.
std::string tree(const std::string& lines) {
  return "topologies:\n  - name: fabric\n    tree:\n" + lines;
}

TEST(TopologyFile, MayHaveSeveralTopologies) {
  const Config config = good(kMain, kFabric);
  ASSERT_EQ(config.policy.networks.all().size(), 2u);
  const NetworkSpec& fabric = config.policy.networks.all()[0];
  EXPECT_EQ(fabric.kind, NetworkKind::tree);
  ASSERT_EQ(fabric.domains.size(), 3u);
  EXPECT_THAT(fabric.domains[1].nodes, testing::ElementsAre("n3", "n4"));
  EXPECT_THAT(fabric.domains[2].switches, testing::ElementsAre("leaf1", "leaf2"));
  EXPECT_EQ(config.policy.networks.all()[1].kind, NetworkKind::block);
  EXPECT_EQ(config.partitions[0].topology, "fabric");
}

TEST(TopologyFile, ErrorsNameTheLine) {
  const std::string file = "/etc/ares/topology.yaml:";
  EXPECT_EQ(refusal("topologys: []\n"),
            file + "1: unknown key \"topologys\"; did you mean \"topologies\"?");
  EXPECT_EQ(refusal(tree("      - {swich: leaf1, nodes: n1}\n")),
            file + "4: tree: unknown key \"swich\"; did you mean \"switch\"?");
  EXPECT_EQ(refusal(tree("      - {switch: leaf1, nodes: \"n[1-5]\"}\n")),
            file +
                "4: topology \"fabric\": switch \"leaf1\" names the unknown node \"n5\"; did you "
                "mean \"n1\"?");
  EXPECT_EQ(
      refusal(tree("      - {switch: a, nodes: \"n[1-4]\"}\n      - {switch: b, nodes: n2}\n")),
      file +
          "5: topology \"fabric\": switch \"b\" names node \"n2\", which is in switch \"a\" "
          "too");
  EXPECT_EQ(refusal(tree("      - {switch: a, nodes: \"n[1-4]\"}\n      - {switch: b}\n")),
            file + "5: topology \"fabric\": switch \"b\" connects nothing");
  EXPECT_EQ(
      refusal(tree("      - {switch: a, nodes: \"n[1-4]\"}\n      - {switch: b, switches: c}\n")),
      file +
          "5: topology \"fabric\": switch \"b\" names the unknown switch \"c\"; did you mean "
          "\"a\"?");
  EXPECT_EQ(refusal(tree("      - {switch: a, nodes: \"n[1-4]\"}\n"
                         "      - {switch: b, switches: c}\n      - {switch: c, switches: b}\n")),
            file + "5: topology \"fabric\": switch \"b\" is below itself");
  EXPECT_EQ(refusal("topologies:\n  - {name: fabric}\n"),
            file +
                "2: topology \"fabric\" has neither \"tree\" nor \"block\", nor \"tree_by\" or "
                "\"block_by\"");
}

TEST(TopologyFile, FewLinesCannotListAnyNumberOfNames) {
  std::string leaves;
  for (int i = 0; i < 11; ++i)
    leaves += "      - {switch: s" + std::to_string(i) + ", nodes: \"n[1-100000]\"}\n";
  EXPECT_THAT(refusal(tree(leaves)), testing::HasSubstr("more than 1000000 names of nodes"));
}

TEST(TopologyFile, PartitionNeedsATopologyWithAllItsNodes) {
  EXPECT_EQ(
      refusal(kFabric, main_partition(", topology: fabrik")),
      "/etc/ares/ares.yaml:5: partition \"main\" names the unknown topology \"fabrik\"; did you "
      "mean \"fabric\"?");
  EXPECT_EQ(refusal(tree("      - {switch: a, nodes: \"n[1-3]\"}\n")),
            "/etc/ares/ares.yaml:5: partition \"main\": node \"n4\" is nowhere in topology "
            "\"fabric\"");
  const std::string without = kMain.substr(kMain.find('\n') + 1);
  EXPECT_EQ(refusal(kFabric, without),
            "/etc/ares/ares.yaml:4: partition \"main\" names a topology, but there is no "
            "\"topology_file\"");
}

TEST(TopologyFile, ChangesAreShownAndTakeEffectAtOnce) {
  const Config before = good(kMain, kFabric);
  const Config after = good(kMain, tree("      - {switch: leaf, nodes: \"n[1-4]\"}\n"));
  EXPECT_NE(before.policy.config_hash, after.policy.config_hash);
  const auto changes = diff(before, before.partitions, after);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].subject + "|" + changes[0].field + "|" + changes[0].after,
            "topology fabric|tree|[{switch: leaf, nodes: \"n[1-4]\"}]");
  EXPECT_EQ(changes[0].effect, TakesEffect::at_once);
  EXPECT_EQ(changes[1].subject + "|" + changes[1].after, "topology racks|");
}

const std::string kByFeatures = R"(topologies:
  - {name: fabric, tree_by: [topology.kubernetes.io/region, topology.kubernetes.io/zone]}
  - {name: cliques, block_by: nvidia.com/gpu.clique}
)";
const std::string kJoins =
    kMain + "policy:\n  dynamic_nodes: [{prefix: k8s-, partitions: [main]}]\n";

TEST(TopologyByFeatures, NamesTheFeaturesOfItsLevels) {
  const Config config = good(kJoins, kByFeatures);
  const auto networks = config.policy.networks.all();
  ASSERT_EQ(networks.size(), 2u);
  EXPECT_EQ(networks[0].kind, NetworkKind::tree);
  EXPECT_THAT(networks[0].by_features,
              testing::ElementsAre("topology.kubernetes.io/region", "topology.kubernetes.io/zone"));
  EXPECT_EQ(networks[1].kind, NetworkKind::block);
  EXPECT_THAT(networks[1].by_features, testing::ElementsAre("nvidia.com/gpu.clique"));
  const auto again = parse(to_portable(config), "dump");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->policy.networks, config.policy.networks);
  EXPECT_EQ(again->policy.config_hash, config.policy.config_hash);
  EXPECT_NE(good(kJoins, kByFeatures + "  - {name: z, block_by: z}\n").policy.config_hash,
            config.policy.config_hash);
}

TEST(TopologyByFeatures, OnlySuchAOneHasAPlaceForNodesThatJoin) {
  EXPECT_EQ(refusal(kByFeatures, kJoins), "accepted");
  EXPECT_EQ(refusal(kFabric, kJoins),
            "/etc/ares/ares.yaml:6: dynamic_nodes: partition \"main\" has topology \"fabric\", "
            "which lists its nodes and has no place for others; describe it by features (tree_by, "
            "block_by)");
}

TEST(TopologyByFeatures, ErrorsNameTheLine) {
  const std::string file = "/etc/ares/topology.yaml:2: ";
  const auto refused = [](const std::string& keys) {
    return refusal("topologies:\n  - {name: fabric, " + keys + "}\n");
  };
  EXPECT_EQ(refused("tree_by: []"), file + "tree_by: expected the name of a feature");
  EXPECT_EQ(refused("tree_by: [zone=a]"),
            file +
                "tree_by: \"zone=a\" is not the name of a feature NAME=VALUE: write what stands "
                "before the \"=\"");
  EXPECT_EQ(refused("tree_by: [a, b, a]"), file + "tree_by: feature \"a\" is named twice");
  EXPECT_EQ(refused("tree_by: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]"),
            file + "tree_by: more than 16 levels");
  for (const char* both : {"tree_by: [a], block_by: b", "block_by: b, tree_by: [a]",
                           "block: [{block: b, nodes: n1}], tree_by: [a]",
                           "tree_by: [a], tree: [{switch: b, nodes: n1}]"})
    EXPECT_THAT(refused(both), testing::HasSubstr("a topology is either a tree or of blocks"))
        << both;
}

TEST(PlacementKeys, CpuAndGpuHaveAStrategyEach) {
  const Config config =
      good(main_partition(", placement: {cpu: spread, gpu: least_fragmentation}"), kFabric);
  EXPECT_EQ(config.partitions[0].placement.cpu, PlacementStrategy::spread);
  EXPECT_EQ(config.partitions[0].placement.gpu, PlacementStrategy::least_fragmentation);
  EXPECT_EQ(good(kMain, kFabric).partitions[0].placement, PlacementPolicy{});
  EXPECT_EQ(refusal(kFabric, main_partition(", placement: {gpu: spred}")),
            "/etc/ares/ares.yaml:5: placement: gpu: \"spred\" is not one of binpack | spread | "
            "least_fragmentation; did you mean \"spread\"?");
  EXPECT_EQ(refusal(kFabric, main_partition(", placement: {gpus: spread}")),
            "/etc/ares/ares.yaml:5: placement: unknown key \"gpus\"; did you mean \"gpu\"?");
}

}  // namespace
}  // namespace ares::config
