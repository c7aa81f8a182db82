// The NUMA nodes nearest to GPUs.
#include "aresd/gpus/gpu_numa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::aresd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

IntervalSet set(const std::string& text) {
  return parse_interval_set(text).value();
}

CpuLayout layout() {
  return parse_cpu_layout("0.0:0-3;1.8:4-7").value();
}

TEST(GpuNuma, NodesAreThoseOfTheNearestCpus) {
  Inventory inventory;
  inventory.gpus = {{GpuIndex(0), "a100", {4, 5}}, {GpuIndex(1), "a100", {}}};
  EXPECT_THAT(gpu_numa_nodes(inventory, layout()), ElementsAre(Pair(GpuIndex(0), set("8"))));
  EXPECT_THAT(gpu_numa_nodes(inventory, CpuLayout()), IsEmpty());
}

TEST(GpuNuma, MatrixPrecedesTheNearestCpus) {
  Inventory inventory;
  inventory.gpus = {{GpuIndex(0), "a100", {4, 5}}, {GpuIndex(1), "a100", {0}}};
  inventory.gpu_topology = GpuTopology(
      "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\tX\tSYS\t4-5\t0-1\n"
      "GPU1\tSYS\tX\t0\tN/A\n");
  EXPECT_THAT(gpu_numa_nodes(inventory, layout()),
              ElementsAre(Pair(GpuIndex(0), set("0-1")), Pair(GpuIndex(1), set("0"))));
}

}  // namespace
}  // namespace ares::aresd
