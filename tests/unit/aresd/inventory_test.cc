#include "aresd/inventory.h"

#include <filesystem>
#include <fstream>
#include <numeric>

#include <gtest/gtest.h>

namespace ares::aresd {
namespace {

std::vector<std::uint32_t> cores(std::uint32_t first, std::uint32_t last) {
  std::vector<std::uint32_t> result(last - first + 1);
  std::iota(result.begin(), result.end(), first);
  return result;
}

TEST(GpuTopology, CountsRowsAndReadsAffinity) {
  const auto gpus = parse_gpu_topology(
      "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tSYS\tNODE\t0-3\t0\n"
      "GPU1\tSYS\t X \tSYS\t4,6\t1\n"
      "mlx5_0\tNODE\tSYS\t X \t\t\n"
      "\nLegend:\n\n  X    = Self\n",
      "a100");
  ASSERT_TRUE(gpus) << gpus.error().message;
  ASSERT_EQ(gpus->size(), 2u);
  EXPECT_EQ((*gpus)[0], (Gpu{GpuIndex(0), "a100", cores(0, 3)}));
  EXPECT_EQ((*gpus)[1], (Gpu{GpuIndex(1), "a100", {4, 6}}));
}

TEST(GpuTopology, ReadsColouredTextAndLoneGpus) {
  const auto coloured = parse_gpu_topology(
      "\x1b[4m\tGPU0\tGPU1\tCPU Affinity\x1b[0m\nGPU0\t X \tNV4\t0-1\nGPU1\tNV4\t X \t0-1\n", "");
  ASSERT_TRUE(coloured);
  EXPECT_EQ(coloured->size(), 2u);
  EXPECT_EQ((*coloured)[0].type, "gpu");
  const auto lone = parse_gpu_topology("\tGPU0\tCPU Affinity\nGPU0\t X \t0-7\n", "t4");
  ASSERT_TRUE(lone) << lone.error().message;
  ASSERT_EQ(lone->size(), 1u);
  EXPECT_EQ((*lone)[0].cores, cores(0, 7));
}

TEST(GpuTopology, RefusesOtherTexts) {
  EXPECT_FALSE(parse_gpu_topology("", ""));
  EXPECT_FALSE(parse_gpu_topology("No devices were found\n", ""));
  EXPECT_FALSE(parse_gpu_topology("GPU1 X\nGPU0 X\n", ""));
}

TEST(NodeInventory, TakesTheConfigurationsWordFirst) {
  Inventory machine;
  machine.cpus = 8;
  machine.memory = Bytes::gib(16);
  config::ConfiguredNode node;
  node.name = "n1";
  EXPECT_EQ(node_inventory(node, machine)->cpus, 8u);
  node.inventory.cpus = 4;
  node.inventory.features = {"fast"};
  const Result<Inventory> inventory = node_inventory(node, machine);
  EXPECT_EQ(inventory->cpus, 4u);
  EXPECT_EQ(inventory->memory, Bytes::gib(16));
  EXPECT_EQ(inventory->features, std::vector<std::string>{"fast"});
  node.gpu_topology = "/no/such/topology";
  const Result<Inventory> missing = node_inventory(node, machine);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/no/such/topology"), std::string::npos);
}

TEST(MachineInventory, IsNotEmpty) {
  const Inventory machine = machine_inventory();
  EXPECT_GE(machine.cpus, 1u);
  EXPECT_GE(machine.memory, Bytes::mib(64));
}

}  // namespace
}  // namespace ares::aresd
