// Which CPUs a node keeps for jobs with GPUs.
#include "core/topology/restricted_cpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/topology/parsed_topology.h"

namespace ares::core::topology {
namespace {

using testing::ElementsAre;

// Two sockets of six cores, with two GPUs at each.
constexpr const char* kSockets =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\tX\tPIX\tSYS\tSYS\t0-5\t0\n"
    "GPU1\tPIX\tX\tSYS\tSYS\t0-5\t0\n"
    "GPU2\tSYS\tSYS\tX\tPIX\t6-11\t1\n"
    "GPU3\tSYS\tSYS\tPIX\tX\t6-11\t1\n";

Inventory two_sockets(std::uint32_t each) {
  Inventory inventory;
  inventory.cpus = 12;
  ParsedTopology parsed = read_topology(kSockets, "a100").value();
  inventory.gpus = std::move(parsed.gpus);
  inventory.gpu_topology = std::move(parsed.topology);
  inventory.cpu_layout = SharedText("0.0:0-5;1.1:6-11");
  inventory.restricted_cores_per_gpu = each;
  return inventory;
}

std::shared_ptr<const RestrictedCpus> found(const Inventory& inventory) {
  Machines machines;
  CpuLayouts layouts;
  return restricted_cpus(inventory, machines, layouts);
}

std::string all_of(const Inventory& inventory) {
  const auto kept = found(inventory);
  return kept ? format_bitset(kept->all) : "none";
}

TEST(RestrictedCpus, AreTheFirstCoresNearEachGpuThatAreNotKeptForAnother) {
  const auto kept = found(two_sockets(2));
  ASSERT_TRUE(kept);
  EXPECT_EQ(format_bitset(kept->all), "0-3,6-9");
  EXPECT_EQ(format_bitset(kept->others), "4-5,10-11");
  std::vector<std::string> each;
  for (const auto& one : kept->of_gpus)
    each.push_back(std::to_string(one.gpu.value()) + ":" + format_bitset(one.cpus));
  EXPECT_THAT(each, ElementsAre("0:0-1", "1:2-3", "2:6-7", "3:8-9"));
  EXPECT_EQ(all_of(two_sockets(1)), "0-1,6-7");
}

TEST(RestrictedCpus, AreNotMoreThanAreNearTheGpus) {
  const auto kept = found(two_sockets(4));
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->others.none());
  EXPECT_EQ(format_bitset(kept->of_gpus[1].cpus), "4-5");
  EXPECT_EQ(found(two_sockets(9))->of_gpus.size(), 2u) << "GPU 0 and 2 have them all";
}

TEST(RestrictedCpus, AreWholeCores) {
  Inventory inventory = two_sockets(2);
  inventory.cpus = 24;
  inventory.cpu_layout = SharedText("0.0:0-5/12-17;1.1:6-11/18-23");
  EXPECT_EQ(all_of(inventory), "0-3,6-9,12-15,18-21");
}

TEST(RestrictedCpus, LeaveOutCpusOfTheSystem) {
  Inventory inventory = two_sockets(2);
  inventory.cpus = 10;
  inventory.cpu_layout = SharedText("0.0:1-5;1.1:7-11");
  const auto kept = found(inventory);
  ASSERT_TRUE(kept);
  EXPECT_EQ(format_bitset(kept->all), "1-4,7-10");
  EXPECT_EQ(format_bitset(kept->others), "5,11");
}

TEST(RestrictedCpus, AreTheFirstOnesWhereNothingIsKnownOfTheMachine) {
  Inventory inventory = two_sockets(2);
  inventory.cpu_layout = {};
  EXPECT_EQ(all_of(inventory), "0-3,6-9") << "each CPU is a core";
  inventory.gpu_topology = {};
  EXPECT_EQ(all_of(inventory), "0-3,6-9") << "the GPUs themselves say what is near";
  for (Gpu& gpu : inventory.gpus) gpu.cores.clear();
  EXPECT_EQ(all_of(inventory), "0-7");
}

TEST(RestrictedCpus, AreOnlyThereForGpus) {
  EXPECT_EQ(all_of(two_sockets(0)), "none");
  Inventory inventory = two_sockets(2);
  inventory.gpus.clear();
  EXPECT_EQ(all_of(inventory), "none");
}

TEST(RestrictedCpus, MayBeUsedByJobsThatGetGpus) {
  const Partition partition;
  JobSpec spec;
  EXPECT_FALSE(may_use_restricted_cpus(spec, partition));
  for (auto list : {&JobSpec::gpus_per_node, &JobSpec::gpus_total, &JobSpec::gpus_per_task}) {
    JobSpec with = spec;
    (with.*list) = {{"a100", 1}};
    EXPECT_TRUE(may_use_restricted_cpus(with, partition));
    (with.*list) = {{"a100", 0}};
    EXPECT_FALSE(may_use_restricted_cpus(with, partition));
  }
  JobSpec whole = spec;
  whole.exclusive = true;
  EXPECT_TRUE(may_use_restricted_cpus(whole, partition)) << "it gets the GPUs of its nodes";
}

}  // namespace
}  // namespace ares::core::topology
