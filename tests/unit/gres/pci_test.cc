#include "gres/pci/pci.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gres/stub.h"

namespace ares::gres::pci {
namespace {

using testing::ElementsAre;

// A PCI bus below a folder, as the kernel shows it.
class Bus : public testing::Test {
 protected:
  // `path` from the root complex to the device: "pci0000:00/0000:00:01.0/0000:01:00.0".
  void add(const std::string& path, const std::string& vendor, const std::string& kind, int numa,
           const std::string& cpus) const {
    const std::string folder = "sys/devices/" + path;
    root_.write(folder + "/vendor", "0x" + vendor + "\n");
    root_.write(folder + "/device", "0x20b2\n");
    root_.write(folder + "/class", "0x" + kind + "00\n");
    root_.write(folder + "/numa_node", std::to_string(numa) + "\n");
    root_.write(folder + "/local_cpulist", cpus + "\n");
    const std::string address = path.substr(path.rfind('/') + 1);
    root_.link("sys/bus/pci/devices/" + address, "../../../devices/" + path);
  }
  void write(const std::string& path, const std::string& text) const { root_.write(path, text); }
  FoundMachine found() const {
    const auto machine = discover(root_.path());
    EXPECT_TRUE(machine) << machine.error().message;
    return machine.value_or(FoundMachine{});
  }
  std::string link(const FoundMachine& machine, std::size_t a, std::size_t b) const {
    return core::topology::format_link(machine.link(a, b).value());
  }

 private:
  Folder root_;
};

TEST_F(Bus, PathsFollowFromSwitchesBridgesAndNumaNodes) {
  // Two below one switch, one below a switch behind it, one at another port of the same root
  // complex, one at another root complex of the NUMA node, one at another NUMA node.
  const std::string upstream = "pci0000:00/0000:00:01.0/0000:01:00.0";
  add(upstream + "/0000:02:00.0/0000:03:00.0", "10de", "0302", 0, "0-7");
  add(upstream + "/0000:02:01.0/0000:04:00.0", "10de", "0302", 0, "0-7");
  add(upstream + "/0000:02:02.0/0000:05:00.0/0000:06:00.0/0000:07:00.0", "10de", "0302", 0, "0-7");
  add("pci0000:00/0000:00:02.0/0000:08:00.0", "10de", "0302", 0, "0-7");
  add("pci0000:40/0000:40:01.0/0000:41:00.0", "10de", "0302", 0, "0-7");
  add("pci0000:80/0000:80:01.0/0000:81:00.0", "10de", "0302", 1, "8-15");
  const FoundMachine machine = found();
  ASSERT_EQ(machine.gpus.size(), 6u);
  EXPECT_EQ(link(machine, 0, 1), "PIX");
  EXPECT_EQ(link(machine, 0, 2), "PXB");
  EXPECT_EQ(link(machine, 0, 3), "PHB");
  EXPECT_EQ(link(machine, 0, 4), "NODE");
  EXPECT_EQ(link(machine, 0, 5), "SYS");
  EXPECT_EQ(format_interval_set(machine.gpus[5].cpus), "8-15");
  EXPECT_EQ(format_interval_set(machine.gpus[5].numa), "1");
  EXPECT_EQ(machine.gpus[5].bus_id, "0000:81:00.0");
  EXPECT_EQ(machine.gpus[5].type, "gpu");
}

TEST_F(Bus, OnlyGpusForComputingCount) {
  add("pci0000:00/0000:00:02.0", "8086", "0300", -1, "0-7");               // in the processor
  add("pci0000:00/0000:00:03.0/0000:02:00.0", "1a03", "0300", -1, "0-7");  // of the board's manager
  add("pci0000:00/0000:00:04.0/0000:03:00.0", "10de", "0300", -1, "0-7");
  add("pci0000:00/0000:00:04.0/0000:03:00.1", "10de", "0403", -1, "0-7");  // its audio
  add("pci0000:00/0000:00:05.0/0000:04:00.0", "1002", "1200", -1, "0-7");
  add("pci0000:00/0000:00:06.0/0000:05:00.0", "10de", "0680", -1, "0-7");  // an NVSwitch
  add("pci0000:00/0000:00:07.0/0000:06:00.0", "15b3", "0207", -1, "0-7");
  const FoundMachine machine = found();
  ASSERT_EQ(machine.gpus.size(), 2u);
  EXPECT_EQ(machine.gpus[0].bus_id, "0000:03:00.0");
  EXPECT_EQ(machine.gpus[1].bus_id, "0000:04:00.0");
  EXPECT_TRUE(machine.gpus[0].numa.empty());
}

TEST_F(Bus, DeviceFilesAreThoseOfTheDrivers) {
  add("pci0000:00/0000:00:04.0/0000:03:00.0", "10de", "0302", 0, "0-7");
  write("proc/driver/nvidia/gpus/0000:03:00.0/information", "Model: \t A100\nDevice Minor: \t 5\n");
  write("sys/devices/pci0000:00/0000:00:04.0/0000:03:00.0/drm/card1/dev", "226:1\n");
  write("sys/devices/pci0000:00/0000:00:04.0/0000:03:00.0/drm/renderD128/dev", "226:128\n");
  const FoundMachine machine = found();
  ASSERT_EQ(machine.gpus.size(), 1u);
  EXPECT_EQ(machine.gpus[0].minor, 5u);
  EXPECT_THAT(machine.gpus[0].devices,
              ElementsAre("/dev/nvidia5", "/dev/dri/card1", "/dev/dri/renderD128"));
}

TEST(Pci, MachineWithoutABusIsAReason) {
  const Folder empty;
  const auto machine = discover(empty.path());
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().code, ErrorCode::not_found);
  EXPECT_THAT(machine.error().message, testing::HasSubstr("/sys/bus/pci/devices"));
}

}  // namespace
}  // namespace ares::gres::pci
