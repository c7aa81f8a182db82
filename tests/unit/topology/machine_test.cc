// Tests: gpu_set, topology/link, pcie_tree
// NVLink domains, NUMA domains and the PCIe tree of a machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/topology/machine.h"
#include "unit/topology/machines.h"

namespace ares::core::topology {
namespace {

// "(SYS (NODE (PIX 0 1) (PIX 2 3)) 4)"; NICs by name.
std::string printed(const MachineTopology& machine, std::size_t at) {
  const PcieNode& node = machine.tree().nodes()[at];
  std::string text = "(" + std::string(format_path(node.level));
  for (const std::size_t child : node.children) text += " " + printed(machine, child);
  for (const unsigned gpu : node.leaves) text += " " + std::to_string(gpu);
  for (const std::size_t nic : node.nics) text += " " + machine.matrix().nics[nic].name;
  return text + ")";
}

std::string tree_of(const MachineTopology& machine) {
  return printed(machine, machine.tree().root());
}

TEST(PcieTree, FollowsThePrintedLevels) {
  EXPECT_EQ(tree_of(machine_of(gaia_machine())), "(SYS (PHB 0 1) (PIX 2 3))");
  Description four = pcie_tree();
  four.gpus = 6;
  EXPECT_EQ(tree_of(machine_of(four)), "(NODE (PHB (PIX 0 1) (PIX 2 3)) (PIX 4 5))");
}

TEST(PcieTree, PathsHiddenByNvlinksAreDerivedFromNics) {
  const MachineTopology machine = machine_of(
      "\tGPU0\tGPU1\tGPU2\tNIC0\n"
      "GPU0\t X \tNV4\tNV4\tPIX\n"
      "GPU1\tNV4\t X \tNV4\tPXB\n"
      "GPU2\tNV4\tNV4\t X \tNODE\n"
      "NIC0\tPIX\tPXB\tNODE\t X \n");
  EXPECT_EQ(tree_of(machine), "(NODE (PXB (PIX 0 NIC0) 1) 2)");
  EXPECT_EQ(machine.path(0, 1), Path::pxb);
  EXPECT_EQ(machine.path(0, 2), Path::node);
  EXPECT_TRUE(machine.same_numa(1, 2)) << "no affinity is told: NODE means one NUMA node";
}

TEST(PcieTree, NumaNodesStandInForMissingPaths) {
  EXPECT_EQ(tree_of(machine_of(dgx_a100())), "(SYS (NODE 0 1) (NODE 2 3) (NODE 4 5) (NODE 6 7))");
  EXPECT_EQ(tree_of(machine_of(mesh4())), "(NODE 0 1 2 3)") << "the same processors";
  EXPECT_EQ(tree_of(machine_of("\tGPU0\tGPU1\nGPU0\t X \tNV1\nGPU1\tNV1\t X \n")), "(SYS 0 1)");
  EXPECT_EQ(tree_of(machine_of("\tGPU3\nGPU3\t X \n")), "(SYS 3)");
}

TEST(NvlinkDomains, AreEvenIfAllPairsHaveEqualLinks) {
  const MachineTopology pairs = machine_of(bridge_pairs());
  ASSERT_EQ(pairs.nvlink_domains().size(), 4u);
  EXPECT_EQ(pairs.nvlink_domains()[1].gpus, GpuSet(0b1100));
  EXPECT_EQ(pairs.nvlink_domains()[1].even, 4u);
  const MachineTopology mesh = machine_of(dgx1());
  ASSERT_EQ(mesh.nvlink_domains().size(), 1u);
  EXPECT_FALSE(mesh.nvlink_domains()[0].even);
  EXPECT_TRUE(machine_of(pcie_tree()).nvlink_domains().empty());
}

TEST(InterchangeableGpus, HaveTheSameLinks) {
  const MachineTopology behind_switch = machine_of(dgx2());
  EXPECT_EQ(behind_switch.interchangeable_gpus(0), GpuSet(0x00fe)) << "all of its NUMA node";
  const MachineTopology tree = machine_of(pcie_tree());
  EXPECT_EQ(tree.interchangeable_gpus(5), GpuSet::of(4));
  EXPECT_TRUE(machine_of(dgx1()).interchangeable_gpus(0).empty());
}

TEST(InterchangeableGpus, FormAnEquivalenceRelation) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const MachineTopology machine = machine_of(irregular(3 + seed % 6, seed));
    for (const unsigned a : machine.gpus())
      for (const unsigned b : machine.interchangeable_gpus(a))
        EXPECT_EQ(machine.interchangeable_gpus(a) | GpuSet::of(a),
                  machine.interchangeable_gpus(b) | GpuSet::of(b))
            << seed;
  }
}

TEST(GpuSets, ReadAndPrintLists) {
  EXPECT_EQ(format_gpu_set(GpuSet(0b1001'0111)), "0-2,4,7");
  EXPECT_EQ(format_gpu_set(GpuSet(0b0001'0101)), "0,2,4");
  EXPECT_EQ(format_gpu_set(GpuSet::first(64)), "0-63");
  EXPECT_EQ(format_gpu_set(GpuSet()), "");
  EXPECT_EQ(parse_gpu_set("7,0-2,4").value_or(GpuSet()), GpuSet(0b1001'0111));
  EXPECT_FALSE(parse_gpu_set("64"));
  EXPECT_FALSE(parse_gpu_set(""));
  EXPECT_EQ(GpuSet::first(64).count(), 64u);
  EXPECT_EQ(GpuSet(0b1011'0100).lowest(3), GpuSet(0b0011'0100));
}

}  // namespace
}  // namespace ares::core::topology
