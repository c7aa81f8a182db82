// Tests: header, topology/row, topology/text
// The layouts in which nvidia-smi, terminals and copying leave the matrix.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/topology/matrix/matrix.h"
#include "unit/topology/machines.h"

namespace ares::core::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

std::string printed(const Matrix& matrix) {
  std::string text;
  for (std::size_t a = 0; a < matrix.devices(); ++a) {
    for (std::size_t b = 0; b < matrix.devices(); ++b)
      text += (matrix.link(a, b) ? format_link(*matrix.link(a, b)) : std::string("-")) + " ";
    if (a < matrix.gpus.size())
      text += format_interval_set(matrix.gpus[a].cpus) + "|" +
              format_interval_set(matrix.gpus[a].numa) + "|" +
              format_interval_set(matrix.gpus[a].own_numa);
    text += "\n";
  }
  return text;
}

std::string read(const std::string& text) {
  const Result<Matrix> matrix = parse_matrix(text);
  return matrix ? printed(*matrix) : "error: " + matrix.error().message;
}

// Two GPUs and a NIC in the format of newer drivers: the last column has two tabs before it.
const std::string kTabs =
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV12\tPIX\t0-3,8-11\t0\t\tN/A\n"
    "GPU1\tNV12\t X \tSYS\t4-7\t1\t\t2\n"
    "NIC0\tPIX\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n"
    "\nNIC Legend:\n\n  NIC0: mlx5_0\n\n";
const std::string kPrinted =
    "- NV12 PIX 0-3,8-11|0|\n"
    "NV12 - SYS 4-7|1|2\n"
    "PIX SYS - \n";

TEST(Matrix, EveryLayoutIsRead) {
  const std::vector<std::pair<std::string, std::string>> layouts = {
      {"tabulators", kTabs},
      {"no tabulator before the header", kTabs.substr(1)},
      {"ends of lines from Windows", replaced(kTabs, "\n", "\r\n")},
      {"colours", "\t\x1b[4m" + replaced(kTabs.substr(1), "ID\n", "ID\x1b[0m\n")},
      {"a prompt before it", "user@host:~$ nvidia-smi topo -m\n" + kTabs + "user@host:~$ \n"},
      {"a fence behind it", kTabs.substr(0, kTabs.find("\nLegend")) + "```\n"},
      {"empty lines between", replaced(kTabs, "\nGPU1", "\n\nGPU1")},
      {"blanks behind the devices of the header",
       replaced(kTabs, "NIC0\tCPU Affinity\tNUMA", "NIC0 CPU Affinity NUMA")},
      {"cells run together", replaced(kTabs, "NV12\tPIX", "NV12PIX")},
      {"blanks",
       "       GPU0  GPU1  NIC0  CPU Affinity  NUMA Affinity  GPU NUMA ID\n"
       "GPU0    X    NV12  PIX   0-3,8-11      0              N/A\n"
       "GPU1   NV12   X    SYS   4-7           1              2\n"
       "NIC0   PIX   SYS    X \n"},
      {"indented",
       "    $ nvidia-smi topo -m\n"
       "          GPU0  GPU1  NIC0  CPU Affinity  NUMA Affinity GPU NUMA ID\n"
       "    GPU0   X    NV12  PIX   0-3,8-11      0             N/A\n"
       "    GPU1  NV12   X    SYS   4-7           1             2\n"
       "    NIC0  PIX   SYS    X \n"},
  };
  for (const auto& [name, text] : layouts) EXPECT_EQ(read(text), kPrinted) << name;
}

TEST(Matrix, NamesOfNicsAreReadFromTheLegend) {
  EXPECT_EQ(parse_matrix(kTabs)->nics[0].device, "mlx5_0");
}

TEST(Matrix, EmptyAffinitiesAreAssignedToTheirColumns) {
  const std::string tabs =
      "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t\t1\t\tN/A\n";
  EXPECT_EQ(read(tabs), "- |1|\n");
  const std::string older = "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-7\t\tN/A\n";
  EXPECT_EQ(read(older), "- 0-7||\n");
  const std::string blanks =
      "      GPU0  CPU Affinity  NUMA Affinity  GPU NUMA ID\n"
      "GPU0   X                  1              N/A\n";
  EXPECT_EQ(read(blanks), "- |1|\n");
  EXPECT_EQ(read("\tGPU0\nGPU0\t X \n"), "- ||\n") << "no such columns at all";
  EXPECT_EQ(read("\tGPU0\tCPU Affinity\nGPU0\t X \t0,64\n"), "- 0,64||\n");
}

TEST(Matrix, GpuNumbersMayHaveGaps) {
  const Result<Matrix> matrix = parse_matrix("\tGPU2\tGPU5\nGPU2\t X \tPIX\nGPU5\tPIX\t X \n");
  ASSERT_TRUE(matrix) << matrix.error().message;
  EXPECT_EQ(matrix->gpus[1].number, 5u);
  EXPECT_EQ(MachineTopology(*matrix).gpus(), GpuSet(0b100100));
}

TEST(Matrix, GpusPrecedeNics) {
  EXPECT_EQ(read("\tGPU0\tmlx5_0\tGPU1\nGPU0\t X \tPIX\tSYS\nmlx5_0\tPIX\t X \tNODE\n"
                 "GPU1\tSYS\tNODE\t X \n"),
            "- SYS PIX ||\nSYS - NODE ||\nPIX NODE - \n");
}

TEST(Matrix, RowsOfNicsMayBeMissing) {
  const Result<Matrix> matrix =
      parse_matrix("\tGPU0\tNIC0\tNIC1\tCPU Affinity\nGPU0\t X \tPIX\tSYS\t0-3\n");
  ASSERT_TRUE(matrix) << matrix.error().message;
  EXPECT_EQ(printed(*matrix), "- PIX SYS 0-3||\nPIX - - \nSYS - - \n");
  EXPECT_THAT(matrix->notes, ElementsAre(HasSubstr("no lines of NIC0, NIC1")));
}

}  // namespace
}  // namespace ares::core::topology
