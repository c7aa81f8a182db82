// What is read of the machine through hwloc: this one, synthetic ones, and one from an XML file.
#include "os/topology/machine_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwloc.h>
#include <sched.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "unit/os_topology/synthetic.h"

namespace ares::os {
namespace {

using testing::HasSubstr;

std::string synthetic(const std::string& description) {
  const ReplacedMachine machine("HWLOC_SYNTHETIC", description);
  const Result<CpuLayout> layout = machine_layout();
  return layout ? format_cpu_layout(*layout) : layout.error().message;
}

TEST(MachineLayout, SyntheticMachinesAreReadByCoresPackagesAndNodes) {
  EXPECT_EQ(synthetic("pack:2 numa:1 core:8 pu:2"), "0.0:0-14:2/1-15:2;1.1:16-30:2/17-31:2");
  EXPECT_EQ(synthetic("pack:1 core:4 pu:1"), "0.0:0-3");
  EXPECT_EQ(synthetic("pack:1 numa:2 core:2 pu:1"), "0.0:0-1;0.1:2-3") << "two nodes in a package";
  EXPECT_EQ(synthetic("pack:2 numa:1(indexes=0,8) core:2 pu:4"),
            "0.0:0,4/1,5/2,6/3,7;1.8:8,12/9,13/10,14/11,15")
      << "numbers of nodes are those of the kernel";
  EXPECT_EQ(synthetic("pack:1 core:2 pu:2(indexes=0,2,1,3)"), "0.0:0-1/2-3");
}

TEST(MachineLayout, CpusWithoutCoresAreCoresOfTheirOwn) {
  EXPECT_EQ(synthetic("pack:1 pu:3"), "0.0:0-2");
}

TEST(MachineLayout, NearestOfSeveralMemoriesIsTheOneOfTheKernel) {
  EXPECT_EQ(synthetic("pack:1 [numa] [numa] core:2 pu:1"), "0.0:0-1");
}

TEST(MachineLayout, OwnMachineHasTheCpusOfThisProcess) {
  ASSERT_FALSE(replaced_machine());
  const Result<CpuLayout> layout = machine_layout();
  ASSERT_TRUE(layout) << layout.error().message;
  cpu_set_t own;
  ASSERT_EQ(::sched_getaffinity(0, sizeof own, &own), 0);
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    EXPECT_TRUE(!CPU_ISSET(cpu, &own) || layout->core_of(cpu)) << cpu;
  for (const std::uint32_t node : layout->numa_nodes())
    EXPECT_TRUE(std::filesystem::exists("/sys/devices/system/node") == false ||
                std::filesystem::exists("/sys/devices/system/node/node" + std::to_string(node)));
}

TEST(MachineLayout, ReplacementIsNamed) {
  const ReplacedMachine machine("HWLOC_SYNTHETIC", "pack:1 pu:3");
  EXPECT_EQ(replaced_machine(), "HWLOC_SYNTHETIC=pack:1 pu:3");
}

// Writes the machine as hwloc's own tools do (lstopo).
void export_xml(const std::string& description, const std::string& path) {
  hwloc_topology_t topology = nullptr;
  ASSERT_EQ(::hwloc_topology_init(&topology), 0);
  ASSERT_EQ(::hwloc_topology_set_synthetic(topology, description.c_str()), 0);
  ASSERT_EQ(::hwloc_topology_load(topology), 0);
  ASSERT_EQ(::hwloc_topology_export_xml(topology, path.c_str(), 0), 0);
  ::hwloc_topology_destroy(topology);
}

// A file that is left behind would replace the machine of later tests.
class XmlFile {
 public:
  XmlFile() : path_(testing::TempDir() + "/machine." + std::to_string(::getpid()) + ".xml") {}
  ~XmlFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(MachineLayout, MachineOfAnXmlFileIsRead) {
  const XmlFile file;
  export_xml("pack:2 numa:1 core:4 pu:2", file.path());
  const ReplacedMachine machine("HWLOC_XMLFILE", file.path());
  const Result<CpuLayout> layout = machine_layout();
  ASSERT_TRUE(layout) << layout.error().message;
  EXPECT_EQ(summary(*layout), "2 sockets, 2 NUMA nodes, 8 cores, 16 CPUs");
}

TEST(MachineLayout, ReplacementThatCannotBeReadIsAnError) {
  EXPECT_THAT(synthetic("rubbish"), HasSubstr("hwloc cannot read HWLOC_SYNTHETIC=rubbish"));
  const ReplacedMachine machine("HWLOC_XMLFILE", "/nonexistent.xml");
  const Result<CpuLayout> layout = machine_layout();
  ASSERT_FALSE(layout);
  EXPECT_THAT(layout.error().message,
              HasSubstr("hwloc cannot read HWLOC_XMLFILE=/nonexistent.xml"));
}

// A recorded POWER8 machine with GPUs, kept outside of this tree: two of eight threads of each core are
// on. It is written by hwloc 3, whose file differs in its version only as far as CPUs are concerned.
TEST(MachineLayout, RecordedMachineIsRead) {
  const char* data = std::getenv("ARES_DATA");
  const std::string path = std::string(data ? data : ARES_SOURCE_DIR "/../shared/data") +
                           "/gpu_info/hwloc/power8gpudistances.xml";
  std::ifstream recorded(path);
  if (!recorded) {
    std::printf("skipped: there is no %s; ARES_DATA may name the folder of recorded data\n",
                path.c_str());
    GTEST_SKIP();
  }
  std::string text{std::istreambuf_iterator<char>(recorded), {}};
  const std::string written_by = "<topology version=\"3.0\"";
  ASSERT_NE(text.find(written_by), std::string::npos);
  text.replace(text.find(written_by), written_by.size(), "<topology version=\"2.0\"");
  const XmlFile file;
  std::ofstream(file.path()) << text;
  const ReplacedMachine machine("HWLOC_XMLFILE", file.path());
  const Result<CpuLayout> layout = machine_layout();
  ASSERT_TRUE(layout) << layout.error().message;
  EXPECT_EQ(format_cpu_layout(*layout), "0.0:0-24:8/1-25:8;1.1:80-104:8/81-105:8");
}

}  // namespace
}  // namespace ares::os
