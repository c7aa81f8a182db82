// Cost of plugins in the stages filter and score: one batched call for all nodes of a cluster, from the scheduler's class down to
// the plugin's C functions, and the same when nothing has changed since. Argument: number of nodes, each of eight GPUs with links.
#include <benchmark/benchmark.h>

#include <string>

#include "core/sched/place/plugin_classes.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"
#include "sched/adapter/plugin_set.h"

namespace ares::core::sched {
namespace {

std::string mesh() {
  std::string text;
  for (int b = 0; b < 8; ++b) text += "\tGPU" + std::to_string(b);
  for (int a = 0; a < 8; ++a) {
    text += "\nGPU" + std::to_string(a);
    for (int b = 0; b < 8; ++b) text += a == b ? "\tX" : "\tNV12";
  }
  return text + "\n";
}

void* open(const ares_sched_host*, char*, size_t) {
  static int self = 0;
  return &self;
}
void close(void*) {}

void filter(void*, const ares_sched_job*, const ares_sched_node* const* nodes, size_t count,
            uint64_t* allowed, char*, size_t) {
  for (size_t i = 0; i < count; ++i)
    if (nodes[i]->free_gpus[0] == 0) allowed[i / 64] &= ~(uint64_t{1} << (i % 64));
}

void score(void*, const ares_sched_job*, const ares_sched_node* const* nodes, size_t count,
           int64_t* scores) {
  for (size_t i = 0; i < count; ++i) scores[i] = -static_cast<int64_t>(nodes[i]->free_cpus);
}

constexpr ares_sched_plugin kTable = {ARES_SCHED_ABI_VERSION,
                                      sizeof(ares_sched_plugin),
                                      ARES_SCHED_LOOK_NODE_FREE,
                                      open,
                                      close,
                                      filter,
                                      score,
                                      nullptr};

struct World {
  ClusterState state;
  Partition partition;
  Job job;
  SharedPlugins plugins;
  std::vector<NodeIndex> all;

  explicit World(std::uint32_t nodes) {
    const GpuTopology links(mesh());
    partition.name = "main";
    for (std::uint32_t i = 0; i < nodes; ++i) {
      Node node;
      node.id = NodeId(i + 1);
      node.name = "n" + std::to_string(i);
      node.contact = Contact::registered;
      node.inventory.cpus = 64;
      node.inventory.memory = Bytes::gib(512);
      for (std::uint16_t g = 0; g < 8; ++g)
        node.inventory.gpus.push_back({GpuIndex(g), "a100", {}});
      node.inventory.gpu_topology = links;
      node.inventory.features = {"ib"};
      const auto node_id = node.id;
      state.nodes.set(node_id, std::move(node));
      all.push_back(i);
    }
    JobSpec spec;
    spec.gpus_per_node = {{"a100", 2}};
    job.spec = std::make_shared<const JobSpec>(spec);
    ares::sched::PluginSource source{"bench", "", {}, {}, "bench -", &kTable};
    plugins.value = *ares::sched::PluginSet::load({source}, nullptr);
  }
};

void ask(benchmark::State& timing, bool again) {
  const World world(static_cast<std::uint32_t>(timing.range(0)));
  ClusterIndex index(world.state);
  set_plugins(index, world.plugins, nullptr);
  std::shared_ptr<PluginClass> asked = index.plugin_classes()->class_of(world.job, world.partition);
  std::vector<NodeIndex> kept;
  for ([[maybe_unused]] auto _ : timing) {
    if (!again) asked = index.plugin_classes()->class_of(world.job, world.partition);
    kept.clear();
    asked->filter(world.all, GpusOf::free_now, index, kept);
    benchmark::DoNotOptimize(kept.size());
  }
  timing.SetItemsProcessed(timing.iterations() * timing.range(0));
}

void ask_all(benchmark::State& timing) {
  ask(timing, false);
}
void known_already(benchmark::State& timing) {
  ask(timing, true);
}

BENCHMARK(ask_all)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(known_already)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ares::core::sched

BENCHMARK_MAIN();
