#include "aresd/gpus/gpu_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ares::aresd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class GpuDevicesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-gpus-XXXXXX").string();
    driver = ::mkdtemp(pattern.data());
    for (std::uint16_t i = 0; i < 2; ++i) inventory.gpus.push_back({GpuIndex(i), "a100", {}});
  }
  void TearDown() override { std::filesystem::remove_all(driver); }

  void add_gpu(const std::string& address, const std::string& information) const {
    std::filesystem::create_directory(driver + "/" + address);
    std::ofstream(driver + "/" + address + "/information") << information;
  }

  std::string driver;
  Inventory inventory;
  config::ConfiguredNode node;
};

TEST_F(GpuDevicesTest, OfTheDriverAreInTheOrderOfTheBus) {
  add_gpu("0000:87:00.0", "Model: \t A100\nDevice Minor: \t 0\n");
  add_gpu("0000:07:00.0", "Model: \t A100\nDevice Minor: \t 1\nGPU Excluded:\t No\n");
  const GpuDevices devices = gpu_devices(node, inventory, {}, driver);
  EXPECT_THAT(devices.of, ElementsAre(Pair(GpuIndex(0), ElementsAre("c 195:1")),
                                      Pair(GpuIndex(1), ElementsAre("c 195:0"))));
  EXPECT_TRUE(devices.problems.empty());
  EXPECT_TRUE(gpu_devices(node, inventory, {}, driver + "/none").of.empty());
}

TEST_F(GpuDevicesTest, OfTheConfigurationPrecedeTheDriver) {
  add_gpu("0000:07:00.0", "Device Minor: 1\n");
  node.gpu_devices = {"/dev/full,/dev/zero", "/dev/null"};
  const GpuDevices devices = gpu_devices(node, inventory, {}, driver);
  EXPECT_THAT(devices.of, ElementsAre(Pair(GpuIndex(0), ElementsAre("c 1:7", "c 1:5")),
                                      Pair(GpuIndex(1), ElementsAre("c 1:3"))));
}

TEST_F(GpuDevicesTest, FilesThatAreNoDevicesAreNamed) {
  node.gpu_devices = {"/dev/no-such-gpu", "/proc/version"};
  const GpuDevices devices = gpu_devices(node, inventory, {}, driver);
  EXPECT_TRUE(devices.of.empty());
  EXPECT_THAT(devices.problems,
              ElementsAre(HasSubstr("/dev/no-such-gpu"), HasSubstr("/proc/version")));
}

}  // namespace
}  // namespace ares::aresd
