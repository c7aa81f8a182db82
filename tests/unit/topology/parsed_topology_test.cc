// Tests: format_matrix
// GPU topology as reported by a node: the shortest text of a matrix reads as the same machine, and the summary is one line.
#include "core/topology/parsed_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/topology/machines.h"

namespace ares::core::topology {
namespace {

using testing::HasSubstr;

std::string name_of(const Matrix& matrix, std::size_t device) {
  return device < matrix.gpus.size() ? "GPU" + std::to_string(matrix.gpus[device].number)
                                     : matrix.nics[device - matrix.gpus.size()].name;
}

void expect_same(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.gpus.size(), b.gpus.size());
  ASSERT_EQ(a.devices(), b.devices());
  for (std::size_t i = 0; i < a.gpus.size(); ++i) {
    EXPECT_EQ(a.gpus[i].number, b.gpus[i].number);
    EXPECT_EQ(a.gpus[i].cpus, b.gpus[i].cpus);
    EXPECT_EQ(a.gpus[i].numa, b.gpus[i].numa);
    EXPECT_EQ(a.gpus[i].own_numa, b.gpus[i].own_numa);
  }
  for (std::size_t i = 0; i < a.devices(); ++i) {
    EXPECT_EQ(name_of(a, i), name_of(b, i));
    for (std::size_t j = 0; j < a.devices(); ++j) EXPECT_EQ(a.link(i, j), b.link(i, j));
  }
}

void expect_round_trip(const std::string& name, const Matrix& matrix) {
  SCOPED_TRACE(name);
  const std::string text = format_matrix(matrix);
  const auto again = parse_matrix(text);
  ASSERT_TRUE(again) << again.error().message << "\n" << text;
  expect_same(matrix, *again);
  EXPECT_EQ(format_matrix(*again), text);
}

TEST(ReportedTopology, RoundTripOfKnownAndRandomMachines) {
  for (const NamedMachine& named : known_machines())
    expect_round_trip(named.name, named.machine.matrix());
  for (std::uint32_t seed = 0; seed < 50; ++seed)
    expect_round_trip("irregular", machine_of(irregular(2 + seed % 15, seed)).matrix());
}

TEST(ReportedTopology, RoundTripOfRecordedMachines) {
  const auto machines = recorded_machines();
  ASSERT_GE(machines.size(), 30u);
  for (const NamedMachine& named : machines) expect_round_trip(named.name, named.machine.matrix());
}

TEST(ReportedTopology, KeepsNicsWithoutRows) {
  const auto matrix = parse_matrix(
      "\tGPU0\tNIC0\tNIC1\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
      "GPU0\t X \tPIX\tSYS\tNV4\t\t0\t\tN/A\n"
      "NIC0\tPIX\t X \tSYS\tSYS\t\t\t\t\n"
      "GPU1\tNV4\tSYS\tPIX\t X \t0-6:2\t1\t\t3\n");
  ASSERT_TRUE(matrix) << matrix.error().message;
  expect_round_trip("without NIC1's row", *matrix);
}

TEST(ReportedTopology, GpusAreSortedByNumber) {
  const auto parsed = read_topology("\tGPU1\tGPU0\nGPU1\tX\tPIX\nGPU0\tPIX\tX\n", "a100");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->gpus, (std::vector<Gpu>{{GpuIndex(0), "a100", {}}, {GpuIndex(1), "a100", {}}}));
}

TEST(ReportedTopology, IsCheckedAndBounded) {
  EXPECT_TRUE(check_gpu_topology({}));
  EXPECT_TRUE(check_gpu_topology(GpuTopology(text_of(dgx1()))));
  EXPECT_THAT(check_gpu_topology(GpuTopology("GPU0\n")).error().message,
              HasSubstr("line 2, column 1"));
  EXPECT_THAT(
      check_gpu_topology(GpuTopology(std::string(kMaxGpuTopology + 1, ' '))).error().message,
      HasSubstr("at most 65536 are read"));
}

TEST(ReportedTopology, SummaryIsOneLine) {
  EXPECT_EQ(summary(GpuTopology()), "");
  EXPECT_EQ(summary(GpuTopology("?")), "not understood");
  EXPECT_EQ(summary(GpuTopology(text_of(dgx1()))), "8 GPUs; NVLink 0-7 (uneven); NUMA 0-3 4-7");
  EXPECT_EQ(summary(GpuTopology(text_of(bridge_pairs()))),
            "8 GPUs; NVLink 0-1 (4 each) 2-3 (4 each) 4-5 (4 each) 6-7 (4 each); NUMA 0-3 4-7");
  EXPECT_EQ(summary(GpuTopology("\tGPU0\tGPU1\tNIC0\nGPU0\tX\tPIX\tSYS\nGPU1\tPIX\tX\tSYS\n")),
            "2 GPUs; no NVLink; NUMA 0-1; PCIe switches 0-1; 1 NIC");
}

}  // namespace
}  // namespace ares::core::topology
