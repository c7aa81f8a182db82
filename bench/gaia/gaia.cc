// Repeats experiments 1 to 4 of the Gaia paper with the policy "gaia" and prints them beside the paper's tables I to IV, as in the report
// bench/reports/gaia.md; then compares the time of a decision with that of a scheduler without topology (the paper's experiment 5).
//
//   bench_gaia [--repetitions N] [--no-times]     N = 500; without times the output is the same on every machine
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/topology/choose.h"
#include "core/topology/gaia.h"

namespace ares::core::topology {
namespace {

// The paper's machine (figure 7): GPUs 2 and 3 are closer to each other than 0 and 1. The figure shows the levels without names.
constexpr std::string_view kMachine =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\n"
    "GPU0\t X \tPHB\tSOC\tSOC\t0-27\n"
    "GPU1\tPHB\t X \tSOC\tSOC\t0-27\n"
    "GPU2\tSOC\tSOC\t X \tPIX\t28-55\n"
    "GPU3\tSOC\tSOC\tPIX\t X \t28-55\n";

struct Outcome {
  const char* name;
  unsigned paper;  // of 500 repetitions
  std::function<bool(GpuSet)> is;
};

struct Case {
  const char* table;
  const char* asked;
  GpuShares shares;
  std::uint32_t thousandths;
  std::vector<Outcome> outcomes;  // all others count as "others", 0 in all of the paper's tables
};

std::function<bool(GpuSet)> exactly(std::uint64_t bits) {
  return [bits](GpuSet gpus) { return gpus == GpuSet(bits); };
}

std::vector<Case> cases(const MachineTopology& machine) {
  const GpuShares idle = GpuShares::whole(machine.gpus());
  const auto used = [&](unsigned thousandths) {
    GpuShares shares = idle;
    shares.take(2, thousandths);
    return shares;
  };
  return {
      {"I",
       "1 GPU, all idle",
       idle,
       1000,
       {{"gpu 2", 227, exactly(4)}, {"gpu 3", 273, exactly(8)}}},
      {"I", "2 GPUs, all idle", idle, 2000, {{"gpu 2 & gpu 3", 500, exactly(12)}}},
      {"II", "0.4 GPU, 0.5 of gpu 2 taken", used(500), 400, {{"gpu 2", 500, exactly(4)}}},
      {"II", "0.1 GPU, 0.9 of gpu 2 taken", used(900), 100, {{"gpu 2", 500, exactly(4)}}},
      {"III",
       "1 GPU, gpu 2 taken",
       used(1000),
       1000,
       {{"gpu 0", 0, exactly(1)}, {"gpu 1", 0, exactly(2)}, {"gpu 3", 500, exactly(8)}}},
      {"IV", "2 GPUs, gpu 2 taken", used(1000), 2000, {{"gpu 0 & gpu 1", 500, exactly(3)}}},
  };
}

void print_case(const Gaia& gaia, const Case& one, unsigned repetitions) {
  std::vector<unsigned> counts(one.outcomes.size() + 1, 0);
  for (unsigned round = 1; round <= repetitions; ++round) {
    const auto choice = gaia.choose(one.shares, one.thousandths, round);
    std::size_t at = 0;
    while (at < one.outcomes.size() && !(choice && one.outcomes[at].is(choice->gpus))) ++at;
    ++counts[at];
  }
  for (std::size_t i = 0; i <= one.outcomes.size(); ++i) {
    const bool named = i < one.outcomes.size();
    std::printf("| %s | %s | %s | %u | %u |\n", one.table, one.asked,
                named ? one.outcomes[i].name : "others", named ? one.outcomes[i].paper : 0,
                counts[i]);
  }
}

// The choice of a scheduler without topology: the lowest free GPUs.
std::uint64_t lowest(const Case& one) {
  unsigned missing = one.thousandths < kWholeGpu ? 1 : one.thousandths / kWholeGpu;
  std::uint64_t bits = 0;
  for (unsigned gpu = 0; gpu < kMaxGpus && missing > 0; ++gpu)
    if (one.shares.left[gpu] >= std::min(one.thousandths, kWholeGpu)) {
      bits |= std::uint64_t{1} << gpu;
      --missing;
    }
  return bits;
}

double nanoseconds_each(const std::function<std::uint64_t()>& decide) {
  constexpr int kRounds = 20'000;
  volatile std::uint64_t kept = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) kept = kept + decide();
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - begin;
  return all.count() / kRounds;
}

void print_times(const MachineTopology& machine, const Gaia& gaia) {
  std::printf(
      "\nTime of one decision in nanoseconds, the machine's tree at hand. The paper's "
      "experiment 5 (figure 10) compares the whole of Kubernetes with the whole of Gaia; "
      "this is the part that differs.\n\n"
      "| request | lowest free | gaia | best links |\n|---|---|---|---|\n");
  for (const Case& one : cases(machine)) {
    GpuSet whole;
    for (const unsigned gpu : machine.gpus())
      if (one.shares.left[gpu] == kWholeGpu) whole.insert(gpu);
    const double blind = nanoseconds_each([&] { return lowest(one); });
    const double by_gaia =
        nanoseconds_each([&] { return gaia.choose(one.shares, one.thousandths)->gpus.bits(); });
    std::printf("| %s | %.0f | %.0f |", one.asked, blind, by_gaia);
    if (one.thousandths < kWholeGpu) {
      std::printf(" no fractions |\n");
      continue;
    }
    const GpuRequest request{one.thousandths / kWholeGpu, {}};
    std::printf(" %.0f |\n", nanoseconds_each([&] {
                  return choose_gpus(machine, whole, request)->gpus.bits();
                }));
  }
}

int run(const std::vector<std::string>& words) {
  unsigned repetitions = 500;
  bool times = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--no-times") {
      times = false;
    } else if (words[i] == "--repetitions" && i + 1 < words.size() &&
               std::atoi(words[i + 1].c_str()) > 0) {
      repetitions = static_cast<unsigned>(std::atoi(words[++i].c_str()));
    } else {
      std::fputs("usage: bench_gaia [--repetitions N] [--no-times]\n", stderr);
      return 2;
    }
  }
  auto matrix = parse_matrix(kMachine);
  if (!matrix) {
    std::fprintf(stderr, "bench_gaia: %s\n", matrix.error().message.c_str());
    return 1;
  }
  const MachineTopology machine(std::move(*matrix));
  const Gaia gaia(machine);
  std::printf(
      "# Gaia's experiments 1 to 4\n\n"
      "Printed by `bench_gaia`. Paper: Song, Deng, Gong, Luo, \"Gaia Scheduler: A Kubernetes-Based "
      "Scheduler Framework\", tables I to IV, 500 repetitions. Here: the policy `gaia` of "
      "`core/topology`, %u repetitions, each with its own order among equals.\n\n"
      "| table | request | given | paper | here |\n|---|---|---|---|---|\n",
      repetitions);
  for (const Case& one : cases(machine)) print_case(gaia, one, repetitions);
  std::printf(
      "\nGPUs 2 and 3 cost the same when all are idle (table I, 1 GPU), so that only chance "
      "parts them: whatever the split, both together are all. The paper gives the order of "
      "the costs (SOC > PXB > PHB > PIX) and no numbers; here they are 4, 3, 2, 1, a GPU's "
      "cost is the sum of what it costs to reach the others, and Link compares the cost of "
      "the level that joins the GPUs. No table depends on the numbers, only on their order.\n");
  if (times) print_times(machine, gaia);
  return 0;
}

}  // namespace
}  // namespace ares::core::topology

int main(int argc, char** argv) {
  return ares::core::topology::run(std::vector<std::string>(argv + 1, argv + argc));
}
