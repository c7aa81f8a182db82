// Time to choose nodes, by placement strategy: one pass over the nodes of a cluster of mixed shapes at
// about 90 % fragmented occupancy. Argument: number of nodes. "one" is a job of one node with two GPUs,
// "gang" a job of eight such nodes, "packed" the same job on nodes with known leaf switches of 16 nodes.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "core/sched/place/score_fragmentation.h"
#include "core/sched/time/backfill.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core::sched {
namespace {

constexpr const char* kTypes[] = {"a100", "h100", "l40s"};

// Twenty shapes of nodes; each node is charged until a few GPUs and CPUs are left.
void add_node(ClusterState& state, std::uint32_t number, std::mt19937& dice) {
  Node node;
  node.id = NodeId(number + 1);
  node.name = "n" + std::to_string(number);
  node.contact = Contact::registered;
  const std::uint32_t shape = number % 20;
  node.inventory.cpus = 64 + 16 * (shape % 5);
  node.inventory.memory = Bytes::gib(256 << shape % 3);
  for (std::uint16_t i = 0; i < 8; ++i)
    node.inventory.gpus.push_back({GpuIndex(i), kTypes[shape % 3], {}});
  Charge charge;
  charge.attempt = {JobKey{JobId(number + 1), {}}, AttemptNo(1)};
  const std::uint32_t free_gpus = dice() % 10 < 7 ? 0 : 1 + dice() % 4;
  charge.cpus = node.inventory.cpus - (dice() % 17);
  charge.memory =
      Bytes(node.inventory.memory.value() / 100 * static_cast<std::int64_t>(60 + dice() % 40));
  for (std::uint16_t i = 0; i < 8 - free_gpus; ++i) charge.gpus.push_back(GpuIndex(i));
  node.charges.push_back(std::move(charge));
  state.node_ids.set(node.name, node.id);
  const auto node_id = node.id;
  state.nodes.set(node_id, std::move(node));
}

struct Cluster {
  ClusterState state;
  Networks networks;
  Partition partition;
  WorkloadHistogram workload;

  explicit Cluster(std::uint32_t nodes) {
    std::mt19937 dice(7);
    NetworkSpec network{"fabric", NetworkKind::tree, {}};
    std::vector<std::string> leaves;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      add_node(state, i, dice);
      partition.nodes.push_back("n" + std::to_string(i));
      if (i % 16 == 0) {
        leaves.push_back("leaf" + std::to_string(i / 16));
        network.domains.push_back({leaves.back(), {}, {}});
      }
      network.domains.back().nodes.push_back(partition.nodes.back());
    }
    network.domains.push_back({"spine", {}, leaves});
    networks = std::vector{std::move(network)};
    partition.name = "main";
    for (std::int64_t i = 0; i < 100; ++i)
      workload.add({1 + i % 16, std::int64_t{1} << (30 + i % 4), i % 3 == 0 ? 1 + i % 4 : 0,
                    i % 3 == 1 ? 1 + i % 2 : 0, i % 3 == 2 ? 1 : 0, 0},
                   1 + i % 11);
    workload.settle();
  }
};

void choose(benchmark::State& timing, PlacementStrategy strategy, std::uint32_t nodes,
            bool packed) {
  Cluster cluster(static_cast<std::uint32_t>(timing.range(0)));
  cluster.partition.placement = {strategy, strategy};
  if (packed) cluster.partition.topology = "fabric";
  ClusterIndex index(cluster.state, &cluster.networks);
  index.set_workload(&cluster.workload);
  JobSpec spec;
  spec.tasks = spec.min_nodes = spec.max_nodes = nodes;
  spec.cpus_per_task = 4;
  spec.memory_per_cpu = Bytes::gib(1);
  spec.gpus_per_node = {{"a100", 2}};
  const Demand demand = make_demand(spec, cluster.partition, index);
  const NodeSet all{index.members(cluster.partition), {}};
  SearchBudget work = SearchBudget::unbounded();
  std::size_t taken = 0;
  for ([[maybe_unused]] auto _ : timing) {
    const auto placement = fit_on(demand, all, index, CapacityBasis::free_now, work);
    taken = placement ? placement->size() : 0;
    benchmark::DoNotOptimize(placement);
  }
  timing.counters["nodes_taken"] = static_cast<double>(taken);
}

void register_all() {
  for (int s = 0; s <= static_cast<int>(kLastPlacementStrategy); ++s) {
    const auto strategy = static_cast<PlacementStrategy>(s);
    const auto add = [&](const std::string& what, std::uint32_t nodes, bool packed) {
      benchmark::RegisterBenchmark(
          (what + "/" + std::string(to_string(strategy))).c_str(),
          [=](benchmark::State& timing) { choose(timing, strategy, nodes, packed); })
          ->Arg(1'000)
          ->Arg(10'000)
          ->Unit(benchmark::kMicrosecond);
    };
    add("one", 1, false);
    add("gang", 8, false);
    add("packed", 8, true);
  }
}

}  // namespace
}  // namespace ares::core::sched

int main(int argc, char** argv) {
  ares::core::sched::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
