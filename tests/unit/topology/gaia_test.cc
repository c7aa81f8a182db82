// Tests: whole_gpu
// The algorithms of the Gaia paper, and its experiments 1 to 4 as relations that must hold in 500 repetitions of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/topology/gaia.h"
#include "unit/topology/machines.h"

namespace ares::core::topology {
namespace {

constexpr unsigned kRepetitions = 500;

// How often each set of GPUs is chosen; every repetition breaks ties in another order.
std::map<std::uint64_t, unsigned> repeat(const MachineTopology& machine, const GpuShares& shares,
                                         std::uint32_t thousandths) {
  const Gaia gaia(machine);
  std::map<std::uint64_t, unsigned> counts;
  for (unsigned round = 1; round <= kRepetitions; ++round) {
    const auto choice = gaia.choose(shares, thousandths, round);
    if (choice) ++counts[choice->gpus.bits()];
  }
  return counts;
}

// Figure 8(a): another container has GPU 2.
GpuShares with_gpu2_taken(const MachineTopology& machine) {
  GpuShares shares = GpuShares::whole(machine.gpus());
  shares.take(2, kWholeGpu);
  return shares;
}

using Counts = std::map<std::uint64_t, unsigned>;

TEST(GaiaExperiments, OneSimpleScheduling) {
  const MachineTopology machine = machine_of(gaia_machine());
  const GpuShares idle = GpuShares::whole(machine.gpus());
  Counts one = repeat(machine, idle, 1000);
  EXPECT_EQ(one[0b0100] + one[0b1000], kRepetitions) << "GPU 2 or 3, which cost least, always";
  // Both are equally likely: five standard deviations of 500 fair coin flips are 56.
  EXPECT_GT(one[0b0100], 194u);
  EXPECT_GT(one[0b1000], 194u);
  EXPECT_EQ(repeat(machine, idle, 2000), (Counts{{0b1100, kRepetitions}}));
}

TEST(GaiaExperiments, TwoFragmentScheduling) {
  const MachineTopology machine = machine_of(gaia_machine());
  GpuShares shares = GpuShares::whole(machine.gpus());
  shares.take(2, 500);
  EXPECT_EQ(repeat(machine, shares, 400), (Counts{{0b0100, kRepetitions}}));
  shares.take(2, 400);
  EXPECT_EQ(repeat(machine, shares, 100), (Counts{{0b0100, kRepetitions}}));
}

TEST(GaiaExperiments, ThreeSingularScheduling) {
  const MachineTopology machine = machine_of(gaia_machine());
  EXPECT_EQ(repeat(machine, with_gpu2_taken(machine), 1000), (Counts{{0b1000, kRepetitions}}));
}

TEST(GaiaExperiments, FourLinkScheduling) {
  const MachineTopology machine = machine_of(gaia_machine());
  EXPECT_EQ(repeat(machine, with_gpu2_taken(machine), 2000), (Counts{{0b0011, kRepetitions}}));
}

// The six GPUs of figures 4 and 5: three pairs, two of them below one host bridge.
MachineTopology six() {
  Description machine{6, [](unsigned a, unsigned b) -> std::string {
                        if (a / 2 == b / 2) return "PIX";
                        return b < 4 ? "PHB" : "SOC";
                      }};
  return machine_of(machine);
}

std::string chosen(const Gaia& gaia, const GpuShares& shares, std::uint32_t thousandths) {
  const auto choice = gaia.choose(shares, thousandths);
  return choice ? format_gpu_set(choice->gpus) : choice.error().message;
}

TEST(Gaia, CostsHaveTheOrderOfThePaper) {
  EXPECT_LT(Gaia::cost(Path::pix), Gaia::cost(Path::phb));
  EXPECT_LT(Gaia::cost(Path::phb), Gaia::cost(Path::pxb));
  EXPECT_LT(Gaia::cost(Path::pxb), Gaia::cost(Path::sys));
  const MachineTopology machine = six();
  const Gaia gaia(machine);
  EXPECT_LT(gaia.access_cost(0), gaia.access_cost(4)) << "4 is far from more GPUs";
}

TEST(Gaia, SingularTakesTheSiblingOfATakenGpu) {
  const MachineTopology machine = six();
  const Gaia gaia(machine);
  GpuShares shares = GpuShares::whole(machine.gpus());
  EXPECT_EQ(chosen(gaia, shares, 1000), "0");
  shares.take(4, kWholeGpu);
  EXPECT_EQ(chosen(gaia, shares, 1000), "5") << "figure 5: not the cheaper 0 or 1";
  shares.take(5, 300);
  EXPECT_EQ(chosen(gaia, shares, 1000), "0") << "5 is no whole GPU any more";
}

TEST(Gaia, FragmentFillsTheFullestThatFits) {
  const MachineTopology machine = six();
  const Gaia gaia(machine);
  GpuShares shares = GpuShares::whole(machine.gpus());
  EXPECT_EQ(chosen(gaia, shares, 1), "0") << "no fragment: the cheapest whole one";
  shares.take(1, 300);
  shares.take(5, 600);
  EXPECT_EQ(chosen(gaia, shares, 400), "5") << "400 left: nothing is wasted";
  EXPECT_EQ(chosen(gaia, shares, 401), "1");
  EXPECT_EQ(chosen(gaia, shares, 701), "0");
}

TEST(Gaia, LinkTakesTheSmallestSubtree) {
  const MachineTopology machine = six();
  const Gaia gaia(machine);
  GpuShares shares = GpuShares::whole(machine.gpus());
  EXPECT_EQ(chosen(gaia, shares, 2000), "0-1") << "figure 4";
  EXPECT_EQ(chosen(gaia, shares, 4000), "0-3");
  EXPECT_EQ(chosen(gaia, shares, 5000), "0-4");
  shares.take(1, kWholeGpu);
  shares.take(2, 1);
  EXPECT_EQ(chosen(gaia, shares, 2000), "4-5") << "the only whole pair below one switch";
  EXPECT_EQ(chosen(gaia, shares, 3000), "0,3-4");
}

TEST(Gaia, ImpossibleRequestsAreRefused) {
  const MachineTopology machine = six();
  const Gaia gaia(machine);
  const GpuShares none;
  EXPECT_EQ(gaia.choose(none, 500).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(gaia.choose(GpuShares::whole(machine.gpus()), 7000).error().code,
            ErrorCode::resource_exhausted);
  for (const std::uint32_t wrong : {0u, 1500u, 2001u})
    EXPECT_EQ(gaia.choose(GpuShares::whole(machine.gpus()), wrong).error().code,
              ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ares::core::topology
