// Tests: topology/link
// What is read from recorded machines. A recording without a row here fails, so that it gets checked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/topology/matrix/matrix.h"
#include "unit/topology/machines.h"

namespace ares::core::topology {
namespace {

using testing::HasSubstr;

struct Expected {
  const char* file;
  unsigned gpus;  // 0 = refused
  std::size_t nics;
  const char* nvlinks;  // "0-3:NV4": domains, and how many links join each pair of them
  const char* numa;     // domains
  const char* cpus;     // near to the highest GPU
};

const std::vector<Expected> kExpected = {
    {"a100x4-nv4-cpuset2.txt", 4, 1, "0-3:NV4", "0-3", "0,64"},
    {"a100x8-nv12-compact.txt", 8, 0, "0-7:NV12", "0-3 4-7", "24-47"},
    {"aws-2gpu-pix-noheadtab.txt", 2, 0, "", "0-1", "0-47"},
    {"della-a100x2-sys-tabs.txt", 2, 2, "", "0 1", "64-127"},
    {"della-cryoem-a100x4-mlx5.txt", 4, 1, "0-3:NV4", "0-1 2-3", "24-47"},
    {"della-h100x8-cgroup-empty-affinity.txt", 8, 6, "0-7:NV18", "0-3 4-7", "1"},
    {"desktop-5gpu-sys-phb-node.txt", 5, 0, "", "0 1-4", "0-7,16-23"},
    {"dgx1-v100-mlx5-indented.txt", 8, 4, "0-7:uneven", "0-3 4-7", "20-39,60-79"},
    {"dual-nv2-short.txt", 2, 0, "0-1:NV2", "0-1", "0-23"},
    {"dual-phb-short.txt", 2, 0, "", "0-1", "0-11"},
    {"h100-mig-vm-ansi.txt", 1, 0, "", "0", "0-19"},
    {"h100x8-nv18-ht-affinity.txt", 8, 0, "0-7:NV18", "0-3 4-7", "52-103,156-207"},
    {"h100x8-thunderkittens.txt", 8, 0, "0-7:NV18", "0-3 4-7", "48-95,144-191"},
    {"l40s-vm-ansi.txt", 1, 0, "", "0", "0-7"},
    {"l40x4-epyc384-2nic.txt", 4, 2, "", "0-1 2-3", "128-255,384-511"},
    {"levante-topo-mp-2nic.txt", 4, 2, "", "0 1 2 3", "80-95,208-223"},
    {"p3-8xlarge-v100x4.txt", 4, 0, "0-3:uneven", "0-3", "0-31"},
    {"pcie4-nv12-bridge-pairs.txt", 4, 0, "0-1:NV12 2-3:NV12", "0-1 2-3", "52-103,156-207"},
    {"pcie4-two-switch-pix-phb.txt", 4, 0, "", "0-3", "0-13,28-41"},
    {"pcie6-4plus2-pix-node-sys.txt", 6, 0, "", "0-3 4-5", "24-47,72-95"},
    {"pcie8-no-affinity.txt", 8, 0, "", "0-3 4-7", ""},
    {"pcie8-node-sys-epyc.txt", 8, 0, "", "0-3 4-7", "64-127,192-255"},
    {"polaris-a100x4-nv4-mixed-sep.txt", 4, 2, "0-3:NV4", "0 1 2 3", "0-7,32-39"},
    {"rtx3090x2-nv4.txt", 2, 0, "0-1:NV4", "0-1", "0-23"},
    {"rtx4080s-ansi.txt", 1, 0, "", "0", "0-15"},
    {"rtx5090x2-phb-tabs.txt", 2, 0, "", "0-1", "0-63"},
    {"single-gpu-6nic.txt", 1, 6, "", "0", "0"},
    {"six-gpu-soc-old.txt", 6, 0, "", "0-3 4-5", ""},
    {"traverse-power9-v100x4-nv3.txt", 4, 4, "0-1:NV3 2-3:NV3", "0-1 2-3", "64-127"},
    {"v100x4-mlx5-sys.txt", 4, 1, "0-3:uneven", "0-3", "0-15"},
    {"v100x8-hybrid-nic0.txt", 8, 1, "0-7:uneven", "0-3 4-7", "20-39,60-79"},
    {"v100x8-vm-phb-numa-range.txt", 8, 0, "0-7:uneven", "0-7", "0-63"},
};

struct RefusedText {
  const char* file;
  const char* message;
};

// Truncated ones lack rows of GPUs, whose CPUs are unknown therefore.
const std::vector<RefusedText> kRefused = {
    {"dgx-a100-10nic-rows0-5-truncated.txt", "line 8, column 1: expected the lines of GPU6, GPU7:"},
    {"dgx2-v100x16-rows0-3-truncated.txt",
     "line 6, column 1: expected the lines of GPU4, GPU5, GPU6, GPU7, GPU8, GPU9, GPU10, GPU11, "
     "GPU12, GPU13, GPU14, GPU15: the text was cut"},
    {"gb200x4-truncated.txt", "line 5, column 44: the line of GPU3 ends before its column NIC1"},
    {"p2p-read-h100x8.txt", "line 3, column 17: \"OK\" tells whether GPUs can copy"},
};

std::string nvlinks_of(const MachineTopology& machine) {
  std::string text;
  for (const NvlinkDomain& domain : machine.nvlink_domains())
    text += (text.empty() ? "" : " ") + format_gpu_set(domain.gpus) + ":" +
            (domain.even ? "NV" + std::to_string(*domain.even) : "uneven");
  return text;
}

std::string numa_of(const MachineTopology& machine) {
  std::string text;
  for (const GpuSet gpus : machine.numa_domains())
    text += (text.empty() ? "" : " ") + format_gpu_set(gpus);
  return text;
}

void check(const Expected& expected, const std::string& text) {
  const Result<Matrix> matrix = parse_matrix(text);
  ASSERT_TRUE(matrix) << expected.file << ": " << matrix.error().message;
  const MachineTopology machine(*matrix);
  EXPECT_EQ(machine.gpus(), GpuSet::first(expected.gpus)) << expected.file;
  EXPECT_EQ(matrix->nics.size(), expected.nics) << expected.file;
  EXPECT_EQ(nvlinks_of(machine), expected.nvlinks) << expected.file;
  EXPECT_EQ(numa_of(machine), expected.numa) << expected.file;
  EXPECT_EQ(format_interval_set(matrix->gpus.back().cpus), expected.cpus) << expected.file;
}

TEST(Recorded, EveryMachineIsReadOrRefusedWithAReason) {
  const auto texts = recorded_texts();
  for (const auto& [name, text] : texts) {
    const auto same = [&name = name](const auto& row) { return name == row.file; };
    const auto good = std::find_if(kExpected.begin(), kExpected.end(), same);
    const auto bad = std::find_if(kRefused.begin(), kRefused.end(), same);
    if (good != kExpected.end()) {
      check(*good, text);
    } else if (bad != kRefused.end()) {
      const Result<Matrix> matrix = parse_matrix(text);
      ASSERT_FALSE(matrix) << name;
      EXPECT_THAT(matrix.error().message, HasSubstr(bad->message)) << name;
    } else {
      ADD_FAILURE() << name << " has no row in this test";
    }
  }
  EXPECT_EQ(texts.size(), kExpected.size() + kRefused.size());
}

TEST(Recorded, TablesOfOtherVendorsAreRefused) {
  EXPECT_FALSE(
      parse_matrix("       GPU0         GPU1\nGPU0   0            15\nGPU1   15           0\n"));
}

// Random bytes are changed: a text that still parses must give a consistent matrix.
TEST(Recorded, DamagedTextsAreRefusedOrConsistent) {
  const auto texts = recorded_texts();
  static constexpr std::string_view kBytes = "\t \nXNV1PSYGU0-,\x1b[m\xff";
  std::uint32_t random = 1;
  const auto next = [&random](std::size_t below) {
    random = random * 1664525 + 1013904223;
    return (random >> 8) % below;
  };
  for (const auto& [name, text] : texts)
    for (int round = 0; round < 200; ++round) {
      std::string damaged = text;
      for (std::size_t changes = 1 + next(3); changes > 0; --changes)
        damaged[next(damaged.size())] = kBytes[next(kBytes.size())];
      const Result<Matrix> matrix = parse_matrix(damaged);
      if (!matrix) {
        EXPECT_THAT(matrix.error().message, HasSubstr("column ")) << name;
        continue;
      }
      for (std::size_t a = 0; a < matrix->devices(); ++a)
        for (std::size_t b = 0; b < matrix->devices(); ++b)
          ASSERT_EQ(matrix->link(a, b), matrix->link(b, a)) << name;
      EXPECT_FALSE(MachineTopology(*matrix).gpus().empty());
    }
}

}  // namespace
}  // namespace ares::core::topology
