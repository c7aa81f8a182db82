// Time to choose k GPUs on each recorded machine (tests/data/topologies), and on three defined here: a
// DGX-2, 16 GPUs below PCIe switches, and 16 GPUs without any symmetry, worse than any real machine.
//
//   bench_topology [--benchmark_filter=...]      steps = nodes of the search, 0 for one GPU
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

#include "core/topology/choose.h"
#include "core/topology/cpus.h"

namespace ares::core::topology {
namespace {

using LinkText = std::function<std::string(unsigned, unsigned)>;

std::string text_of(unsigned gpus, const LinkText& link) {
  std::string text;
  for (unsigned gpu = 0; gpu < gpus; ++gpu) text += "\tGPU" + std::to_string(gpu);
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (unsigned a = 0; a < gpus; ++a) {
    text += "GPU" + std::to_string(a);
    for (unsigned b = 0; b < gpus; ++b)
      text += "\t" + (a == b ? "X" : link(std::min(a, b), std::max(a, b)));
    text += a < gpus / 2 ? "\t0-31\t0\n" : "\t32-63\t1\n";
  }
  return text;
}

std::string below_switches(unsigned a, unsigned b) {
  if (a / 2 == b / 2) return "PIX";
  if (a / 4 == b / 4) return "PHB";
  return a / 8 == b / 8 ? "NODE" : "SYS";
}

// Deterministic, and different for each pair of GPUs.
std::string without_order(unsigned a, unsigned b) {
  static const std::vector<std::string> kCodes = {"NV1", "NV2", "PIX", "PXB", "PHB", "NODE", "SYS"};
  const std::uint64_t mixed = (a * 0x9e37'79b9'7f4a'7c15ULL) ^ (b * 0xbf58'476d'1ce4'e5b9ULL);
  return kCodes[(mixed >> 33) % kCodes.size()];
}

using Machines = std::vector<std::pair<std::string, std::shared_ptr<const MachineTopology>>>;

void add(Machines& machines, const std::string& name, const std::string& text) {
  if (Result<Matrix> matrix = parse_matrix(text))
    machines.emplace_back(name, std::make_shared<const MachineTopology>(std::move(*matrix)));
}

Machines all_machines() {
  Machines machines;
  add(machines, "dgx2", text_of(16, [](unsigned, unsigned) { return "NV6"; }));
  add(machines, "pcie16", text_of(16, below_switches));
  add(machines, "unordered16", text_of(16, without_order));
  for (const auto& entry :
       std::filesystem::directory_iterator(ARES_SOURCE_DIR "/tests/data/topologies")) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    add(machines, entry.path().stem().string(), text.str());
  }
  return machines;
}

void choose(benchmark::State& state, const MachineTopology& machine, GpuSet free, unsigned count) {
  unsigned steps = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto choice = choose_gpus(machine, free, {count, {}});
    benchmark::DoNotOptimize(choice);
    steps = choice->steps;
  }
  state.counters["steps"] = steps;
}

void choose_processors(benchmark::State& state, const MachineTopology& machine) {
  const Bitset free(256, true);
  for ([[maybe_unused]] auto _ : state) {
    auto cpus = choose_cpus(machine, machine.gpus(), free, 32);
    benchmark::DoNotOptimize(cpus);
  }
}

void read(benchmark::State& state) {
  const std::string text = text_of(16, below_switches);
  for ([[maybe_unused]] auto _ : state) {
    auto matrix = parse_matrix(text);
    benchmark::DoNotOptimize(matrix);
  }
}

void build(benchmark::State& state) {
  const Result<Matrix> matrix = parse_matrix(text_of(16, below_switches));
  for ([[maybe_unused]] auto _ : state) {
    const MachineTopology machine(*matrix);
    benchmark::DoNotOptimize(machine.gpus());
  }
}

void add_benchmarks() {
  for (const auto& [name, machine] : all_machines()) {
    const unsigned gpus = machine->gpus().count();
    for (unsigned count = 1; count <= gpus; ++count)
      benchmark::RegisterBenchmark(
          (name + "/" + std::to_string(count) + "of" + std::to_string(gpus)).c_str(),
          [machine = machine, count](benchmark::State& state) {
            choose(state, *machine, machine->gpus(), count);
          });
    // Every third GPU is in use.
    GpuSet free = machine->gpus();
    for (unsigned gpu = 0; gpu < gpus; gpu += 3) free.erase(gpu);
    if (const unsigned half = free.count() / 2; half > 0)
      benchmark::RegisterBenchmark(
          (name + "/" + std::to_string(half) + "of" + std::to_string(free.count()) + "free")
              .c_str(),
          [machine = machine, free, half](benchmark::State& state) {
            choose(state, *machine, free, half);
          });
  }
  const auto dgx2 = all_machines().front().second;
  benchmark::RegisterBenchmark(
      "cpus/32for16", [dgx2](benchmark::State& state) { choose_processors(state, *dgx2); });
  benchmark::RegisterBenchmark("parse/16gpus", read);
  benchmark::RegisterBenchmark("build/16gpus", build);
}

}  // namespace
}  // namespace ares::core::topology

int main(int argc, char** argv) {
  ares::core::topology::add_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
