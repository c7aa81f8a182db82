// Time to choose the devices of one share: without GPUs, and k of the 8 GPUs of a DGX-1 (hybrid mesh), of a machine with
// NVSwitches, and of one without known links; 128 CPUs, half of the GPUs' processors in use. Each question is repeated,
// as a scheduler does. "new" is the first question of a new scheduler: the matrix is parsed and the search done.
//
//   bench_devices [--benchmark_filter=...]
#include <benchmark/benchmark.h>

#include "core/sched/place/devices.h"
#include "core/topology/parsed_topology.h"
#include "model/engine/state.h"

namespace ares::core::sched {
namespace {

// Output of nvidia-smi on a DGX-1 with V100.
constexpr const char* kMesh =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\tX\tNV1\tNV1\tNV2\tNV2\tSYS\tSYS\tSYS\t0-31\t0\n"
    "GPU1\tNV1\tX\tNV2\tNV1\tSYS\tNV2\tSYS\tSYS\t0-31\t0\n"
    "GPU2\tNV1\tNV2\tX\tNV2\tSYS\tSYS\tNV1\tSYS\t0-31\t0\n"
    "GPU3\tNV2\tNV1\tNV2\tX\tSYS\tSYS\tSYS\tNV1\t0-31\t0\n"
    "GPU4\tNV2\tSYS\tSYS\tSYS\tX\tNV1\tNV1\tNV2\t32-63\t1\n"
    "GPU5\tSYS\tNV2\tSYS\tSYS\tNV1\tX\tNV2\tNV1\t32-63\t1\n"
    "GPU6\tSYS\tSYS\tNV1\tSYS\tNV1\tNV2\tX\tNV2\t32-63\t1\n"
    "GPU7\tSYS\tSYS\tSYS\tNV1\tNV2\tNV1\tNV2\tX\t32-63\t1\n";

std::string switched() {
  std::string text = kMesh;
  for (const char* link : {"NV1", "NV2", "SYS"})
    for (std::size_t at = 0; (at = text.find(link, at)) != std::string::npos;)
      text.replace(at, 3, "NV6");
  return text;
}

ClusterState one_node(const std::string& matrix, bool with_topology) {
  topology::ParsedTopology read = topology::read_topology(matrix, "v100").value();
  Node node;
  node.id = NodeId(1);
  node.name = "n1";
  node.contact = Contact::registered;
  node.inventory = {128, Bytes::gib(512), std::move(read.gpus), {}, {}};
  if (with_topology) node.inventory.gpu_topology = std::move(read.topology);
  Charge charge;
  charge.attempt = {JobKey{JobId(1), {}}, AttemptNo(1)};
  for (std::uint32_t cpu = 0; cpu < 64; cpu += 2) charge.cpu_ids.push_back(cpu);
  charge.cpus = static_cast<std::uint32_t>(charge.cpu_ids.size());
  node.charges.push_back(std::move(charge));
  ClusterState state;
  state.node_ids.set(node.name, node.id);
  const auto node_id = node.id;
  state.nodes.set(node_id, std::move(node));
  return state;
}

PlacedShare share_of(const ClusterIndex& index, std::int64_t gpus) {
  PlacedShare share{0, 1, Amounts(index.stride(), 0)};
  share.amounts[kCpus] = 8;
  share.amounts[kFirstGpu] = gpus;
  return share;
}

void choose(benchmark::State& timing, const std::string& matrix, bool with_topology,
            GpuConstraint constraint) {
  const ClusterState state = one_node(matrix, with_topology);
  ClusterIndex index(state);
  const PlacedShare share = share_of(index, timing.range(0));
  const IndexedNode idle = index.nodes()[0];
  for ([[maybe_unused]] auto _ : timing) {
    IndexedNode& node = index.nodes()[0];
    node = idle;
    benchmark::DoNotOptimize(choose_devices(node, share, constraint, index));
  }
}

void choose_anew(benchmark::State& timing) {
  const ClusterState state = one_node(kMesh, true);
  for ([[maybe_unused]] auto _ : timing) {
    ClusterIndex index(state);
    const PlacedShare share = share_of(index, timing.range(0));
    benchmark::DoNotOptimize(choose_devices(index.nodes()[0], share, {}, index));
  }
}

void register_all() {
  const auto add = [](const char* name, std::string matrix, bool with_topology,
                      GpuConstraint constraint) {
    benchmark::RegisterBenchmark(
        name, [=](benchmark::State& timing) { choose(timing, matrix, with_topology, constraint); })
        ->Arg(0)
        ->Arg(1)
        ->Arg(2)
        ->Arg(4);
  };
  add("untold", kMesh, false, {});
  add("mesh", kMesh, true, {});
  add("mesh/nvlink", kMesh, true, {GpuShape::nvlink, 0});
  add("switched", switched(), true, {});
  benchmark::RegisterBenchmark("new", choose_anew)->Arg(1)->Arg(2)->Arg(4);
}

}  // namespace
}  // namespace ares::core::sched

int main(int argc, char** argv) {
  ares::core::sched::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
