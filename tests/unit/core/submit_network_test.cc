// Tests: feasible_network
// Refusals of --switches, --segment and --prefer at submission and update.
#include <gmock/gmock.h>

#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;

// leaf1 has n1 and n2, leaf2 has n3, n4 and n5.
Policy with_network(NetworkKind kind) {
  Policy policy = Cluster::default_policy();
  NetworkSpec network{
      "fabric", kind, {{"leaf1", {"n1", "n2"}, {}}, {"leaf2", {"n3", "n4", "n5"}, {}}}};
  if (kind == NetworkKind::tree) network.domains.push_back({"spine", {}, {"leaf1", "leaf2"}});
  policy.networks = std::vector{network};
  return policy;
}

void connect(Cluster& cluster) {
  ApplyConfig config;
  config.hash = 8;
  Partition main = *cluster.state().partitions.find("main");
  main.topology = "fabric";
  for (const std::string& name : main.nodes) config.nodes.emplace_back(name, Cluster::machine());
  config.partitions.push_back(std::move(main));
  cluster.run({config});
}

std::string refusal(Cluster& cluster, const std::function<void(JobSpec&)>& change) {
  JobSpec spec = Cluster::spec();
  change(spec);
  const Reply reply = cluster.try_submit(spec);
  return reply.failed ? reply.error.message : "accepted";
}

std::function<void(JobSpec&)> nodes(std::uint32_t count, std::uint32_t switches,
                                    std::uint32_t segment,
                                    std::optional<Seconds> wait = std::nullopt) {
  return [=](JobSpec& spec) {
    spec.min_nodes = spec.max_nodes = spec.tasks = count;
    spec.switches = switches;
    spec.switches_wait = wait;
    spec.segment = segment;
  };
}

TEST(NetworkRequests, NeedATopology) {
  Cluster cluster(5);
  EXPECT_THAT(
      refusal(cluster, nodes(2, 1, 0)),
      HasSubstr("--switches needs to know the network between the nodes, and partition main "
                "has no topology; leave the option out"));
  EXPECT_THAT(refusal(cluster, nodes(2, 0, 2)), HasSubstr("--segment needs to know"));
  EXPECT_EQ(refusal(cluster, nodes(2, 0, 1)), "accepted");
}

TEST(NetworkRequests, MustBePossibleInTheTopology) {
  Cluster cluster(5, with_network(NetworkKind::tree));
  connect(cluster);
  EXPECT_EQ(refusal(cluster, nodes(3, 1, 0)), "accepted");
  EXPECT_THAT(
      refusal(cluster, nodes(4, 1, 0)),
      HasSubstr("needs 4 nodes under at most one leaf switch; the most that can be had so in "
                "topology fabric and partition main is 3"));
  EXPECT_EQ(refusal(cluster, nodes(4, 1, 0, Seconds{600})), "accepted");
  EXPECT_EQ(refusal(cluster, nodes(4, 2, 0)), "accepted");
  EXPECT_EQ(refusal(cluster, nodes(4, 0, 2)), "accepted");
  EXPECT_THAT(refusal(cluster, nodes(4, 0, 4)),
              HasSubstr("needs segments of 4 nodes; the most that a leaf switch of topology fabric "
                        "has in partition main is 3"));
  EXPECT_THAT(refusal(cluster,
                      [](JobSpec& spec) {
                        nodes(4, 0, 2)(spec);
                        spec.excluded_nodes = {"n1"};
                      }),
              HasSubstr("needs 4 nodes in segments of 2; the most that can be had so in topology "
                        "fabric and partition main is 2"));
}

TEST(NetworkRequests, ApplyToBlocksInABlockTopology) {
  Cluster cluster(5, with_network(NetworkKind::block));
  connect(cluster);
  EXPECT_THAT(refusal(cluster, nodes(4, 0, 4)), HasSubstr("the most that a block of topology"));
  EXPECT_THAT(refusal(cluster, nodes(4, 1, 0)), HasSubstr("under at most one block"));
}

TEST(NetworkRequests, ApplyToTheLeavesThatTheFeaturesOfNodesMakeNow) {
  Policy policy = Cluster::default_policy();
  policy.networks = std::vector{NetworkSpec{"fabric", NetworkKind::tree, {}, {"zone", "rack"}}};
  Cluster cluster(5, policy);
  connect(cluster);
  EXPECT_THAT(refusal(cluster, nodes(2, 1, 0)),
              HasSubstr("no node of partition main has the features by which topology fabric "
                        "places nodes: zone, rack"));
  ApplyConfig config;
  config.hash = 9;
  Partition main = *cluster.state().partitions.find("main");
  for (const std::string& name : main.nodes) {
    Inventory machine = Cluster::machine();
    machine.features = {"zone=a", name < "n3" ? "rack=r1" : "rack=r2"};
    config.nodes.emplace_back(name, machine);
  }
  config.partitions.push_back(std::move(main));
  cluster.run({config});
  EXPECT_EQ(refusal(cluster, nodes(3, 1, 0)), "accepted");
  EXPECT_THAT(refusal(cluster, nodes(4, 1, 0)),
              HasSubstr("the most that can be had so in topology fabric and partition main is 3"));
}

TEST(NetworkRequests, MustBeConsistent) {
  Cluster cluster(5, with_network(NetworkKind::tree));
  connect(cluster);
  EXPECT_THAT(refusal(cluster, nodes(3, 0, 2)),
              HasSubstr("no multiple of the segment of 2 nodes is among the numbers of nodes asked "
                        "for (3)"));
  EXPECT_EQ(refusal(cluster,
                    [](JobSpec& spec) {
                      nodes(3, 0, 2)(spec);
                      spec.max_nodes = 4;
                    }),
            "accepted");
  EXPECT_THAT(refusal(cluster,
                      [](JobSpec& spec) {
                        nodes(2, 1, 0)(spec);
                        spec.features = {"r1*1"};
                      }),
              HasSubstr("cannot be asked for together with --switches or --segment"));
  EXPECT_THAT(refusal(cluster, nodes(2, 0, 0, Seconds{60})),
              HasSubstr("a time to wait for switches"));
  EXPECT_THAT(refusal(cluster, nodes(2, 1, 0, Seconds{0})),
              HasSubstr("a time to wait for switches"));
}

TEST(Preferences, ConcernSingleNodesOnly) {
  Cluster cluster(2);
  const auto prefer = [](const char* text) {
    return [text](JobSpec& spec) { spec.prefer = text; };
  };
  EXPECT_EQ(refusal(cluster, prefer("fast|big")), "accepted");
  EXPECT_THAT(refusal(cluster, prefer("[r1|r2]")),
              HasSubstr("something of several nodes together"));
  EXPECT_THAT(refusal(cluster, prefer("r1*2")), HasSubstr("something of several nodes together"));
  EXPECT_THAT(refusal(cluster, prefer("a&")), HasSubstr("Invalid feature specification"));
}

}  // namespace
}  // namespace ares::core
