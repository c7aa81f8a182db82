// Tests: topology_json, topology_text
// actl topology: its options and its output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actl/topology/topology.h"

namespace ares::actl {
namespace {

using testing::HasSubstr;
using namespace core::topology;

MachineTopology machine() {
  auto matrix = parse_matrix(
      "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV4\tSYS\tSYS\tPIX\t0-7\t0\n"
      "GPU1\tNV4\t X \tSYS\tSYS\tNODE\t0-7\t0\n"
      "GPU2\tSYS\tSYS\t X \tNODE\tSYS\t8-15\t1\n"
      "GPU3\tSYS\tSYS\tNODE\t X \tSYS\t8-15\t1\n"
      "NIC0\tPIX\tNODE\tSYS\tSYS\t X \t\t\n\nNIC Legend:\n\n  NIC0: mlx5_0\n");
  return MachineTopology(std::move(*matrix));
}

// The output or error of a command line with these words.
std::string run(const std::vector<std::string>& words) {
  TopologyOptions options;
  const cli::OptionTable table{topology_rows(options)};
  const auto parsed = cli::parse_options(table, words);
  if (!parsed) return parsed.error().message;
  if (const Status done = cli::apply_options(parsed->given); !done) return done.error().message;
  const MachineTopology shown = machine();
  const auto allocation = allocate(shown, options);
  if (!allocation) return allocation.error().message;
  return *allocation ? allocation_text(shown, **allocation) : "nothing";
}

TEST(TopologyCommand, PrintsTheMachine) {
  const std::string text = topology_text(machine());
  EXPECT_THAT(text, HasSubstr("4 GPUs, 1 NIC, 2 NUMA domains\n"));
  EXPECT_THAT(text, HasSubstr("GPU1  NV4   X     SYS   SYS   NODE  0-7\n"));
  EXPECT_THAT(text, HasSubstr("NVLink  GPUs 0-1: every two joined by 4 links"));
  EXPECT_THAT(text, HasSubstr("NUMA    GPUs 0-1: node 0, CPUs 0-7\n"));
  EXPECT_THAT(text, HasSubstr("PCIe\n        SYS\n          NODE GPU1\n"
                              "            PIX GPU0 NIC0(mlx5_0)\n          NODE GPU2 GPU3\n"));
}

TEST(TopologyCommand, PrintsTheChoiceAndItsReasons) {
  const std::string text = run({"--allocate=2", "--busy=0", "--near-cpus=2"});
  EXPECT_THAT(text, HasSubstr("Chosen        GPUs 2-3 of the free 1-3\n"));
  EXPECT_THAT(text, HasSubstr("Slowest pair  NODE, 8 GB/s, as between GPU2 and GPU3\n"));
  EXPECT_THAT(text, HasSubstr("Left free     GPU 1\n"));
  EXPECT_THAT(text, HasSubstr("proven best"));
  EXPECT_THAT(text, HasSubstr("CPUs near     8-15\nCPUs chosen   8-9\n"));
  EXPECT_THAT(run({"--allocate=3"}), HasSubstr("All pairs     112 GB/s: 1 x NV4, 2 x SYS"));
}

TEST(TopologyCommand, AppliesConstraintsAndPolicy) {
  EXPECT_THAT(run({"--allocate=2", "--gpu-topology=node", "--busy=1"}), HasSubstr("GPUs 2-3"));
  EXPECT_THAT(run({"--allocate=2", "--min-nvlink=4"}), HasSubstr("GPUs 0-1"));
  EXPECT_THAT(run({"--allocate=0.5", "--gpu-policy=gaia"}),
              HasSubstr("GPU 0, 500 thousandths of it, of the free 0-3\nRule          Fragment"));
}

TEST(TopologyCommand, ErrorsSayWhatToDo) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"--busy=0"}, "need --allocate"},
      {{"--near-cpus=1"}, "need --allocate"},
      {{"--allocate=x"}, "give 1 or more, or a part such as 0.5"},
      {{"--allocate=0"}, "not a number of GPUs"},
      {{"--allocate=1."}, "not a number of GPUs"},
      {{"--allocate=0.0001"}, "not a number of GPUs"},
      {{"--allocate=65"}, "not a number of GPUs"},
      {{"--allocate=0.5"}, "--gpu-policy=gaia"},
      {{"--allocate=1.5", "--gpu-policy=gaia"}, "only below 1 there are fractions"},
      {{"--allocate=2", "--gpu-policy=gaia", "--min-nvlink=1"}, "knows no constraints"},
      {{"--allocate=1", "--gpu-policy=other"}, "there are best and gaia"},
      {{"--allocate=1", "--busy=2-5"}, "the machine has no GPU 4-5; it has 0-3"},
      {{"--allocate=5"}, "the machine has 4"},
      {{"--allocate=3", "--busy=0,1"}, "2 of 4 free"},
      {{"--allocate=3", "--gpu-topology=nvlink"}, "allows at most 2"},
      {{"--allocate=1", "--gpu-topology=ring"}, "there are any, nvlink"},
      {{"--allocate=1", "--min-nvlink=0"}, "whole number from 1"},
      {{"--allocate=1", "--near-cpus=17"}, "names only 16 processors"},
  };
  for (const auto& [words, says] : cases) EXPECT_THAT(run(words), HasSubstr(says)) << words[0];
}

TEST(TopologyCommand, PrintsJson) {
  const MachineTopology shown = machine();
  TopologyOptions options;
  options.allocate = 2000;
  const auto allocation = allocate(shown, options);
  ASSERT_TRUE(allocation);
  const std::string json = topology_json(shown, *allocation);
  EXPECT_THAT(json, HasSubstr("\"nvlink_domains\": [{\"gpus\": [0, 1], \"links\": 4}]"));
  EXPECT_THAT(json, HasSubstr("[\"X\", \"NV4\", \"SYS\", \"SYS\", \"PIX\"]"));
  EXPECT_THAT(json, HasSubstr("\"allocation\": {\"gpus\": [0, 1], \"thousandths\": 2000"));
  EXPECT_THAT(topology_json(shown, std::nullopt), HasSubstr("\"allocation\": null"));
}

}  // namespace
}  // namespace ares::actl
