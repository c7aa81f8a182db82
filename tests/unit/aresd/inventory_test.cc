// Tests: resources
#include "aresd/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ares::aresd {
namespace {

TEST(NodeInventory, ConfigurationPrecedesTheMachine) {
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

TEST(NodeInventory, WhatIsSetAsideIsNotOffered) {
  Inventory machine;
  machine.cpus = 8;
  machine.memory = Bytes::gib(16);
  config::ConfiguredNode node;
  node.name = "n1";
  node.reserved_cpus.insert(0, 1);
  node.reserved_memory = Bytes::gib(2);
  EXPECT_EQ(node_inventory(node, machine)->cpus, 6u);
  EXPECT_EQ(node_inventory(node, machine)->memory, Bytes::gib(14));
  node.reserved_memory = Bytes::gib(16);
  EXPECT_THAT(node_inventory(node, machine).error().message,
              testing::HasSubstr("reserved_memory leaves nothing of 16G"));
  node.reserved_cpus.insert(0, 7);
  EXPECT_THAT(node_inventory(node, machine).error().message,
              testing::HasSubstr("reserved_cpus leaves none of 8 CPUs for jobs"));
}

class WithTopology : public testing::Test {
 protected:
  Result<Inventory> inventory(const std::string& text) {
    std::ofstream(path_) << text;
    config::ConfiguredNode node;
    node.name = "n1";
    node.gpu_topology = path_;
    return node_inventory(node, {.cpus = 8, .memory = Bytes::gib(16), .gpus = {}, .features = {}});
  }
  ~WithTopology() override { std::filesystem::remove(path_); }

  const std::string path_ = testing::TempDir() + "/" + std::to_string(::getpid()) + "-topology.txt";
};

TEST_F(WithTopology, CarriesGpusAndTheirLinks) {
  const auto node = inventory(
      "\x1b[4m\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
      "GPU0\t X \tSYS\tNODE\t0-3\t0\n"
      "GPU1\tSYS\t X \tSYS\t4,6\t1\n"
      "mlx5_0\tNODE\tSYS\t X \t\t\n"
      "\nLegend:\n\n  X    = Self\n");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->gpus,
            (std::vector<Gpu>{{GpuIndex(0), "gpu", {0, 1, 2, 3}}, {GpuIndex(1), "gpu", {4, 6}}}));
  EXPECT_EQ(node->gpu_topology.text(),
            "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\tNUMA Affinity\n"
            "GPU0\tX\tSYS\tNODE\t0-3\t0\n"
            "GPU1\tSYS\tX\tSYS\t4,6\t1\n"
            "mlx5_0\tNODE\tSYS\tX\n");
}

TEST_F(WithTopology, ErrorsNameThePlace) {
  const auto refusal = [&](const std::string& text) {
    const auto node = inventory(text);
    return node ? "accepted" : node.error().message;
  };
  EXPECT_THAT(refusal("No devices were found\n"),
              testing::StartsWith(path_ + ": line 1, column 1:"));
  EXPECT_THAT(refusal("\tGPU0\tGPU1\nGPU0\t X \tNVX\nGPU1\tNVX\t X \n"),
              testing::HasSubstr(": line 2, column 10: \"NVX\" is no link"));
  EXPECT_THAT(refusal(std::string(kMaxGpuTopology, ' ') + "\n"),
              testing::HasSubstr("65537 bytes, but at most 65536 are read"));
}

TEST(MachineInventory, IsNotEmpty) {
  const Inventory machine = machine_inventory();
  EXPECT_GE(machine.cpus, 1u);
  EXPECT_GE(machine.memory, Bytes::mib(64));
}

TEST(MachineLoadOfThisMachine, IsReadFromTheFilesOfTheKernel) {
  const MachineLoad load = parse_load("12.07 1.50 0.98 2/345 6789\n",
                                      "MemTotal:       16384 kB\nMemFree:         2049 kB\n"
                                      "MemAvailable:    8192 kB\n");
  EXPECT_EQ(load.cpu_load, 1207u);
  EXPECT_EQ(load.free_memory, Bytes::kib(2049));
  EXPECT_EQ(parse_load("0.00 0.01 0.05 1/2 3\n", "MemFree: 0 kB\n"), (MachineLoad{0u, Bytes(0)}));
  EXPECT_EQ(parse_load("", ""), MachineLoad{});
  EXPECT_EQ(parse_load("a.bc\n", "MemFree: much\n"), MachineLoad{});
  const MachineLoad here = machine_load();
  EXPECT_TRUE(here.cpu_load);
  ASSERT_TRUE(here.free_memory);
  EXPECT_LE(*here.free_memory, machine_inventory().memory);
}

}  // namespace
}  // namespace ares::aresd
