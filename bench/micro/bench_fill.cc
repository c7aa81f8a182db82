// How much of a GPU cluster can be allocated: pods drawn from a trace arrive one after the other and stay; a pod that does not fit is
// dropped. Prints the allocated share of GPUs when the requests reach 1.0 and 1.3 times the number of GPUs, by placement strategy.
//   bench_fill NODES.csv PODS.csv... [--seeds N]
// The method is the workload inflation of Weng et al., USENIX ATC 2023, section 6, on the openb lists they published. Pods that request
// a part of a GPU share it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "asim/cluster.h"
#include "asim/read_workload.h"
#include "asim/workload.h"
#include "base/random.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/filter.h"
#include "core/sched/place/nodes_with_capacity.h"
#include "core/sched/place/score_fragmentation.h"
#include "core/sched/place/shared_gpus.h"
#include "core/sched/time/backfill.h"
#include "model/job/gpu_part.h"

namespace ares::sim {
namespace {

using namespace core;
using namespace core::sched;

// Allocated share of all GPUs when the requests reach 1.0 and 1.3 times the number of GPUs.
struct Reached {
  double at_full = 0, at_more = 0;
};

constexpr double kMore = 1.3;

ClusterState state_of(const config::Config& config) {
  ClusterState state;
  Partition all;
  all.name = "all";
  for (const config::ConfiguredNode& configured : config.nodes) {
    Node node;
    node.id = state.next_node_id;
    state.next_node_id = node.id.next();
    node.name = configured.name;
    node.inventory = configured.inventory;
    node.contact = Contact::registered;
    all.nodes.push_back(node.name);
    state.node_ids.set(node.name, node.id);
    const auto node_id = node.id;
    state.nodes.set(node_id, std::move(node));
  }
  state.partitions.set("all", all);
  return state;
}

// Requested GPUs in thousandths.
std::uint64_t gpus_of(const JobSpec& spec) {
  return spec.gpus_per_node.empty()
             ? 0
             : static_cast<std::uint64_t>(thousandths_of(spec.gpus_per_node.front()));
}

// Cost of a node (the lowest is chosen) for strategies that the scheduler does not have.
using Choose = std::function<double(const Demand&, const IndexedNode&, Random&)>;

std::optional<Placement> place_by(const Choose& cost, const Demand& demand, const NodeSet& set,
                                  const ClusterIndex& index, Random& dice) {
  std::optional<Placement> best;
  double least = 0;
  nodes_with_capacity(demand, *set.bits, index).for_each([&](std::size_t at) {
    const IndexedNode& node = index.nodes()[at];
    SingleNodeFit one(demand, index.stride());
    Amounts row;
    one.add({static_cast<NodeIndex>(at), free_to_join(demand, node, row), node.total, false});
    auto placement = one.placement();
    if (!placement) return;
    const double here = cost(demand, node, dice);
    if (best && least <= here) return;
    best = std::move(placement);
    least = here;
  });
  if (best) name_devices(index, *best, [](NodeIndex, const SharedGpu&) { return true; });
  return best;
}

// Dot product of free and requested amounts, each as a share of the largest node's amount.
double dot_product(const Demand& demand, const IndexedNode& node, const Amounts& largest) {
  std::int64_t free_gpus =
      std::accumulate(node.free.begin() + kFirstGpu, node.free.end(), std::int64_t{0}) * kWholeGpu;
  for (const SharedGpu& shared : node.shared) free_gpus += kWholeGpu - shared.used;
  const auto part = [](std::int64_t a, std::int64_t b, std::int64_t most) {
    return static_cast<double>(a) * static_cast<double>(b) /
           (static_cast<double>(most) * static_cast<double>(most));
  };
  std::int64_t gpus = demand.any_gpus_per_node * kWholeGpu;
  for (const auto& [column, count] : demand.gpus_per_node) gpus += count * kWholeGpu;
  if (demand.gpu_part > 0) gpus = demand.gpu_part;
  return part(node.free[kCpus], demand.cpus_per_task, largest[kCpus]) +
         part(node.free[kMemory], demand.memory.value(), largest[kMemory]) +
         part(free_gpus, gpus, largest[kFirstGpu] * kWholeGpu);
}

struct Strategy {
  const char* name;
  PlacementStrategy placement;
  Choose choose;  // none: by `placement`
};

std::vector<Strategy> strategies(const Amounts& largest) {
  return {{"least_fragmentation", PlacementStrategy::least_fragmentation, {}},
          {"binpack", PlacementStrategy::binpack, {}},
          {"spread", PlacementStrategy::spread, {}},
          {"dot product (smallest)", PlacementStrategy::binpack,
           [=](const Demand& demand, const IndexedNode& node, Random&) {
             return dot_product(demand, node, largest);
           }},
          {"random", PlacementStrategy::binpack,
           [](const Demand&, const IndexedNode&, Random& dice) { return dice.unit(); }}};
}

Reached fill(const ClusterState& state, const Workload& pods, const Strategy& strategy,
             std::uint64_t seed) {
  ClusterIndex index(state);
  Partition all = *state.partitions.find("all");
  all.placement = {strategy.placement, strategy.placement};
  std::uint64_t capacity = 0, asked = 0, given = 0;
  for (const IndexedNode& node : index.nodes())
    capacity += node.node->inventory.gpus.size() * kWholeGpu;

  std::vector<std::int64_t> counts(pods.specs.size(), 0);
  for (const WorkJob& job : pods.jobs) ++counts[job.spec_index];
  WorkloadHistogram workload;
  for (std::size_t spec_index = 0; spec_index < counts.size(); ++spec_index)
    workload.add(workload_class_of(make_amounts(pods.specs[spec_index], all, index)),
                 counts[spec_index]);
  workload.settle();
  index.set_workload(&workload);

  struct Kind {
    Demand demand;
    Candidates candidates;
  };
  std::vector<Kind> kinds;
  for (const JobSpec& spec : pods.specs) {
    Job job;
    job.spec = std::make_shared<const JobSpec>(spec);
    kinds.push_back({make_demand(spec, all, index), filter(job, all, index)});
  }
  Random dice(seed);
  Reached reached;
  SearchBudget work = SearchBudget::unbounded();
  while (static_cast<double>(asked) < kMore * static_cast<double>(capacity)) {
    const std::uint32_t spec_index = pods.jobs[dice.next() % pods.jobs.size()].spec_index;
    const Kind& kind = kinds[spec_index];
    asked += gpus_of(pods.specs[spec_index]);
    const NodeSet set{kind.candidates.usable, {}, &kind.candidates.usable.bits()};
    const auto placement = strategy.choose
                               ? place_by(strategy.choose, kind.demand, set, index, dice)
                               : fit_on(kind.demand, set, index, CapacityBasis::free_now, work);
    if (placement) {
      for (const PlacedShare& share : *placement) {
        choose_devices(index.nodes()[share.node], share, {}, index);
        index.update_free(share.node);
      }
      given += gpus_of(pods.specs[spec_index]);
    }
    if (asked <= capacity)
      reached.at_full = static_cast<double>(given) / static_cast<double>(capacity);
  }
  reached.at_more = static_cast<double>(given) / static_cast<double>(capacity);
  return reached;
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Status compare(const std::string& nodes, const std::string& list, std::uint64_t seeds) {
  const auto pods = read_workload(list, 1);
  if (!pods) return fail(pods.error());
  const auto config = read_cluster(nodes, *pods, {});
  if (!config) return fail(config.error());
  const ClusterState state = state_of(*config);
  Amounts largest(kFirstGpu + 1, 1);
  state.nodes.for_each([&](NodeId, const Node& node) {
    largest[kCpus] = std::max<std::int64_t>(largest[kCpus], node.inventory.cpus);
    largest[kMemory] = std::max(largest[kMemory], node.inventory.memory.value());
    largest[kFirstGpu] =
        std::max(largest[kFirstGpu], static_cast<std::int64_t>(node.inventory.gpus.size()));
  });
  std::printf(
      "### %s\n\n| strategy | GPUs given at 100 %% asked | at 130 %% | not given |\n"
      "|---|---|---|---|\n",
      file_name(list).c_str());
  for (const Strategy& strategy : strategies(largest)) {
    Reached mean;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Reached one = fill(state, *pods, strategy, seed);
      mean.at_full += one.at_full / static_cast<double>(seeds);
      mean.at_more += one.at_more / static_cast<double>(seeds);
    }
    std::printf("| %s | %.2f %% | %.2f %% | %.2f %% |\n", strategy.name, 100 * mean.at_full,
                100 * mean.at_more, 100 * (1 - mean.at_more));
    std::fflush(stdout);
  }
  std::printf("\n");
  return {};
}

}  // namespace
}  // namespace ares::sim

int main(int argc, char** argv) {
  std::vector<std::string> files;
  std::uint64_t seeds = 3;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--seeds" && i + 1 < argc)
      seeds = std::max<std::uint64_t>(std::strtoull(argv[++i], nullptr, 10), 1);
    else
      files.emplace_back(argv[i]);
  }
  if (files.size() < 2) {
    std::fprintf(stderr, "bench_fill: say NODES.csv PODS.csv... [--seeds N]\n");
    return 1;
  }
  for (std::size_t i = 1; i < files.size(); ++i)
    if (const auto done = ares::sim::compare(files[0], files[i], seeds); !done) {
      std::fprintf(stderr, "bench_fill: %s\n", done.error().message.c_str());
      return 1;
    }
}
