#include "gres/amd/amd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gres/stub.h"

namespace ares::gres::amd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two processors (nodes 0 and 1) and GPUs from node 2 on, as the kernel shows them.
class Kfd : public testing::Test {
 protected:
  Kfd() {
    for (int node : {0, 1}) {
      write(node, "gpu_id", "0\n");
      write(node, "properties", "cpu_cores_count 32\nsimd_count 0\n");
    }
  }
  void write(int node, const std::string& file, const std::string& text) const {
    root_.write("sys/class/kfd/kfd/topology/nodes/" + std::to_string(node) + "/" + file, text);
  }
  // On bus `bus`, at NUMA node `numa`.
  void add(int node, int bus, int numa) const {
    write(node, "gpu_id", std::to_string(1000 + node) + "\n");
    write(node, "properties",
          "simd_count 440\nvendor_id 4098\ngfx_target_version 90010\ndomain 0\nlocation_id " +
              std::to_string(bus << 8) + "\ndrm_render_minor " + std::to_string(126 + node) +
              "\nunique_id " + std::to_string(100 + node) + "\n");
    const std::string number = std::string(bus < 16 ? "0" : "") + std::string(1, "0123456789"[bus]);
    const std::string address = "0000:" + number + ":00.0";
    const std::string path =
        "pci0000:0" + std::to_string(numa) + "/0000:00:0" + std::to_string(bus) + ".0/" + address;
    root_.write("sys/devices/" + path + "/vendor", "0x1002\n");
    root_.write("sys/devices/" + path + "/class", "0x038000\n");
    root_.write("sys/devices/" + path + "/numa_node", std::to_string(numa) + "\n");
    root_.write("sys/devices/" + path + "/local_cpulist", numa == 0 ? "0-31\n" : "32-63\n");
    root_.write("sys/devices/" + path + "/mem_info_vram_total", "68702699520\n");
    root_.write("sys/devices/" + path + "/mem_info_vram_used", "11067392\n");
    root_.write("sys/devices/" + path + "/drm/renderD" + std::to_string(126 + node) + "/dev", "");
    root_.link("sys/bus/pci/devices/" + address, "../../../devices/" + path);
    file_ = "sys/devices/" + path;
  }
  void name_last(const std::string& name) const {
    root_.write(file_ + "/product_name", name + "\n");
  }
  void xgmi(int from, int to, int min, int max) const {
    write(from, "io_links/" + std::to_string(to) + "/properties",
          "type 11\nnode_from " + std::to_string(from) + "\nnode_to " + std::to_string(to) +
              "\nweight 15\nmin_bandwidth " + std::to_string(min) + "\nmax_bandwidth " +
              std::to_string(max) + "\n");
  }
  void pcie(int from, int to) const {
    write(from, "io_links/" + std::to_string(to) + "/properties",
          "type 2\nnode_to " + std::to_string(to) + "\nweight 20\n");
  }
  Result<FoundMachine> found() const { return discover(root_.path()); }
  std::string link(const FoundMachine& machine, std::size_t a, std::size_t b) const {
    return core::topology::format_link(machine.link(a, b).value());
  }

 private:
  Folder root_;
  mutable std::string file_;
};

TEST_F(Kfd, GpusAreTheNodesOfTheKernelThatHaveAGpu) {
  add(2, 3, 0);
  name_last("AMD Instinct MI210");
  add(3, 4, 1);
  pcie(2, 0);
  const auto machine = found();
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->gpus.size(), 2u);
  const FoundGpu& gpu = machine->gpus[0];
  EXPECT_EQ(gpu.type, "mi210");
  EXPECT_EQ(gpu.name, "AMD Instinct MI210");
  EXPECT_EQ(gpu.uuid, "GPU-0000000000000066");
  EXPECT_EQ(gpu.bus_id, "0000:03:00.0");
  EXPECT_EQ(gpu.memory, Bytes(68702699520));
  EXPECT_EQ(format_interval_set(gpu.cpus), "0-31");
  EXPECT_EQ(format_interval_set(gpu.numa), "0");
  EXPECT_THAT(gpu.devices, ElementsAre("/dev/dri/renderD128"));
  EXPECT_EQ(machine->gpus[1].type, "gfx90a") << "without a product name it is the architecture";
  EXPECT_EQ(link(*machine, 0, 1), "SYS");
}

TEST_F(Kfd, XgmiLinksAreCounted) {
  for (int node = 2; node < 5; ++node) add(node, node, node / 4);
  xgmi(2, 3, 50000, 200000);
  xgmi(3, 2, 50000, 200000);
  xgmi(2, 4, 0, 0);
  const auto machine = found();
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(link(*machine, 0, 1), "NV4");
  EXPECT_EQ(link(*machine, 0, 2), "NV1");
  EXPECT_EQ(link(*machine, 1, 2), "SYS");
}

TEST_F(Kfd, MachineWithoutTheirGpusIsAReason) {
  const auto machine = found();
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().message, HasSubstr("has no GPU"));
  const Folder empty;
  const auto none = discover(empty.path());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ares::gres::amd
