// Refusals of --gpu-topology and --min-nvlink at submission and update, and of GPU matrices that nodes report.
#include <gmock/gmock.h>

#include "core/topology/parsed_topology.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;

constexpr const char* kPair = "\tGPU0\tGPU1\nGPU0\tX\tNV2\nGPU1\tNV2\tX\n";
constexpr const char* kApart = "\tGPU0\tGPU1\nGPU0\tX\tPHB\nGPU1\tPHB\tX\n";

Inventory machine(const std::string& text) {
  Inventory inventory = Cluster::machine();
  inventory.gpu_topology = GpuTopology(text);
  return inventory;
}

std::string refusal(
    Cluster& cluster, GpuConstraint constraint, std::vector<GpuRequest> per_node,
    const std::function<void(JobSpec&)>& change = [](JobSpec&) {}) {
  JobSpec spec = Cluster::spec();
  spec.gpus_per_node = std::move(per_node);
  spec.gpu_constraint = constraint;
  change(spec);
  const Reply reply = cluster.try_submit(spec);
  return reply.failed ? reply.error.message : "accepted";
}

constexpr GpuConstraint kLinked{GpuShape::nvlink, 0};

TEST(GpuLinkRequests, NeedGpusOfOneType) {
  Cluster cluster(1);
  EXPECT_THAT(refusal(cluster, kLinked, {}),
              HasSubstr("--gpu-topology=nvlink says how GPUs are linked; ask for GPUs as well"));
  EXPECT_THAT(refusal(cluster, {GpuShape::nvlink, 1}, {{"a100", 1}, {"h100", 1}}),
              HasSubstr("--gpu-topology=nvlink and --min-nvlink=1 is for GPUs of one type"));
  EXPECT_THAT(refusal(cluster, {GpuShape::any, 65}, {{"", 2}}), HasSubstr("at most 64 NVLinks"));
}

TEST(GpuLinkRequests, MustBePossibleOnANode) {
  Cluster cluster(2);
  EXPECT_THAT(refusal(cluster, kLinked, {{"", 2}}),
              HasSubstr("needs 2 GPUs with --gpu-topology=nvlink on one node; the most a node of "
                        "partition main has is 1"));
  ASSERT_FALSE(cluster.register_node(1, {}, machine(kApart)).failed);
  EXPECT_THAT(refusal(cluster, kLinked, {{"", 2}}), HasSubstr("has is 1"));
  ASSERT_FALSE(cluster.register_node(2, {}, machine(kPair)).failed);
  EXPECT_EQ(refusal(cluster, kLinked, {{"", 2}}), "accepted");
  EXPECT_EQ(refusal(cluster, {GpuShape::nvswitch, 2}, {{"a100", 2}}), "accepted");
  EXPECT_THAT(refusal(cluster, {GpuShape::any, 3}, {{"a100", 2}}),
              HasSubstr("needs 2 a100 GPUs with --min-nvlink=3 on one node"));
  EXPECT_EQ(refusal(cluster, {GpuShape::any, 3}, {{"a100", 1}}), "accepted");
  const auto on_two = [](JobSpec& spec) { spec.min_nodes = spec.max_nodes = spec.tasks = 2; };
  EXPECT_THAT(refusal(cluster, kLinked, {{"", 2}}, on_two),
              HasSubstr("needs 2 nodes; 1 of partition main could take their share"));
  const auto whole = [](JobSpec& spec) { spec.exclusive = true; };
  EXPECT_EQ(refusal(cluster, kLinked, {{"", 1}}, whole), "accepted");
  EXPECT_THAT(refusal(cluster, {GpuShape::pcie_switch, 0}, {{"", 1}}, whole),
              HasSubstr("with --gpu-topology=pix of whole nodes"));
}

TEST(GpuLinkRequests, AreChecked) {
  Cluster cluster(1);
  ASSERT_FALSE(cluster.register_node(1, {}, machine(kPair)).failed);
  JobSpec spec = Cluster::spec();
  spec.gpus_per_node = {{"", 2}};
  spec.hold = true;
  const JobKey key = cluster.submit(spec);
  const auto change = [&](GpuConstraint constraint) {
    spec.gpu_constraint = constraint;
    UpdateJob update;
    update.jobs = Cluster::named(key);
    update.fields = {"gpu_topology", "min_nvlink"};
    update.values = std::make_shared<const JobSpec>(spec);
    return cluster.user(kAlice, update);
  };
  EXPECT_FALSE(change({GpuShape::nvlink, 2}).failed);
  EXPECT_EQ(cluster.job(key).spec->gpu_constraint, (GpuConstraint{GpuShape::nvlink, 2}));
  EXPECT_THAT(change({GpuShape::any, 3}).error.message, HasSubstr("with --min-nvlink=3"));
}

TEST(GpuLinkRequests, UnreadableMatrixOfANodeIsRefused) {
  Cluster cluster(1);
  const Reply reply = cluster.register_node(1, {}, machine("\tGPU0\tGPU1\nGPU0\tX\tNV2\n"));
  EXPECT_TRUE(reply.failed);
  EXPECT_THAT(
      reply.error.message,
      HasSubstr("node n1: topology of its GPUs: line 3, column 1: expected the lines of GPU1"));
  EXPECT_TRUE(cluster.node(1).inventory.gpu_topology.empty());
}

}  // namespace
}  // namespace ares::core
