#include "aresd/gpus/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "aresd/gpus/gpu_devices.h"
#include "aresd/inventory.h"

namespace ares::aresd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr std::string_view kMachine = R"json({"format": 1, "gpus": [
  {"index": 0, "name": "Tesla T4", "minor": 1, "cpus": "0-3", "devices": ["/dev/nvidia1", "/dev/null"]},
  {"index": 1, "name": "Tesla T4", "minor": 0, "cpus": "4-7", "notes": ["rows are remapped"]},
  {"index": 2, "name": "Tesla T4", "uuid": "GPU-c", "problem": "GPU is lost (15)"}],
  "links": [["X", "PIX", "?"], ["PIX", "X", "?"], ["?", "?", "X"]]})json";

class Discovery : public testing::Test {
 protected:
  Discovery() {
    std::ofstream(path) << kMachine;
    node.name = "n1";
    node.gpu_discovery = path;
  }
  ~Discovery() override { std::filesystem::remove(path); }

  Result<std::optional<gres::Offer>> find(bool simulated = false) {
    warnings.clear();
    return find_gpus(node, Seconds(10), simulated, [this](const std::string& text, bool concerns) {
      if (concerns) warnings.push_back(text);
    });
  }

  const std::string path = testing::TempDir() + "/" + std::to_string(::getpid()) + "-gpus.json";
  config::ConfiguredNode node;
  std::vector<std::string> warnings;
};

TEST_F(Discovery, WithoutASourceTheConfigurationIsComplete) {
  node.gpu_discovery.clear();
  node.inventory.gpus = {{GpuIndex(0), "a100", {}}};
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
  EXPECT_EQ(node_inventory(node, {}, *found)->gpus, node.inventory.gpus);
}

TEST_F(Discovery, NodeRegistersWhatWasFound) {
  const auto found = find();
  ASSERT_TRUE(found) << found.error().message;
  const Result<Inventory> inventory = node_inventory(node, {}, *found);
  ASSERT_TRUE(inventory);
  EXPECT_EQ(inventory->gpus, (std::vector<Gpu>{{GpuIndex(0), "t4", {0, 1, 2, 3}},
                                               {GpuIndex(1), "t4", {4, 5, 6, 7}}}));
  EXPECT_THAT(inventory->gpu_topology.text(), HasSubstr("GPU0\tX\tPIX\t0-3"));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("GPU 2 is not offered: GPU is lost (15)"),
                                    HasSubstr("GPU 1: rows are remapped")));
  EXPECT_THAT(gpu_devices(node, *inventory, *found).of,
              ElementsAre(Pair(GpuIndex(0), ElementsAre("c 195:1", "c 1:3")),
                          Pair(GpuIndex(1), ElementsAre("c 195:0"))));
}

TEST_F(Discovery, ConfiguredTypesAndFilesPrecedeFoundOnes) {
  node.inventory.gpus = {
      {GpuIndex(0), "small", {}}, {GpuIndex(1), "small", {}}, {GpuIndex(2), "small", {}}};
  node.gpu_devices = {"/dev/null", "/dev/zero", "/dev/full"};
  const auto found = find(true);
  ASSERT_TRUE(found) << found.error().message;
  const Result<Inventory> inventory = node_inventory(node, {}, *found);
  ASSERT_EQ(inventory->gpus.size(), 2u);
  EXPECT_EQ(inventory->gpus[1].type, "small");
  EXPECT_EQ(inventory->gpus[1].cores, (std::vector<std::uint32_t>{4, 5, 6, 7}));
  EXPECT_THAT(warnings, testing::Contains("ares.yaml lists GPUs that were not found: 2"));
  EXPECT_THAT(gpu_devices(node, *inventory, *found).of,
              ElementsAre(Pair(GpuIndex(0), ElementsAre("c 1:3")),
                          Pair(GpuIndex(1), ElementsAre("c 1:5"))));
}

TEST_F(Discovery, JobsSeeGpusByNameOnlyIfIndicesAreNotSafe) {
  EXPECT_TRUE(gpu_names(std::nullopt, true).empty());
  std::ofstream(path) << R"({"format": 1, "gpus": [{"index": 0, "uuid": "GPU-a"}]})";
  EXPECT_TRUE(gpu_names(*find(), false).empty());
  EXPECT_THAT(gpu_names(*find(), true), ElementsAre(Pair(GpuIndex(0), "GPU-a")));
  std::ofstream(path) << R"({"format": 1, "gpus": [{"index": 0, "uuid": "GPU-a", "instances": [
    {"uuid": "MIG-a", "profile": "1g.5gb", "gpu_instance": 7, "compute_instance": 0}]}]})";
  EXPECT_THAT(gpu_names(*find(), false), ElementsAre(Pair(GpuIndex(0), "MIG-a")));
}

TEST_F(Discovery, InvalidFilesAreErrorsWithTheirPlace) {
  std::ofstream(path) << R"({"format": 1, "gpus": [{"index": 0, "minr": 1}]})";
  const auto invalid = find();
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().message, path + ": gpus[0]: unknown key \"minr\"");
  node.gpu_discovery = "/no/such/file";
  ASSERT_FALSE(find());
  EXPECT_THAT(find().error().message, HasSubstr("/no/such/file"));
}

TEST_F(Discovery, GpusOfThisMachineAreNotThoseOfASimulatedNode) {
  node.gpu_discovery = "auto";
  const auto refused = find(true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("node n1: gpu_discovery is auto"));
}

TEST(DiscoveryHere, UnknownSourcesAreRefused) {
  const auto refused = discover_here("cuda");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("unknown source cuda"));
}

}  // namespace
}  // namespace ares::aresd
