#include "core/sched/place/devices.h"

#include <algorithm>

#include "core/cluster/container_nodes.h"
#include "core/topology/cpus.h"

namespace ares::core::sched {

using topology::GpuSet;

namespace {

bool in_use(const IndexedNode& node, GpuIndex gpu) {
  return std::binary_search(node.gpus_used.begin(), node.gpus_used.end(), gpu);
}

// GPUs of one type whose numbers fit into a GpuSet. Link matrices contain no other numbers.
GpuSet gpus_of(const IndexedNode& node, const std::string& type, GpusOf which) {
  GpuSet gpus;
  for (const Gpu& gpu : node.node->inventory.gpus)
    if (gpu.type == type && gpu.index.value() < topology::kMaxGpus &&
        (which == GpusOf::node || !in_use(node, gpu.index)))
      gpus.insert(gpu.index.value());
  return gpus;
}

void mark_used(IndexedNode& node, std::size_t column, GpuIndex gpu) {
  node.gpus_used.insert(std::lower_bound(node.gpus_used.begin(), node.gpus_used.end(), gpu), gpu);
  --node.free[column];
}

// Takes the lowest numbers, for GPUs on which the topology has no information.
void take_lowest(IndexedNode& node, std::size_t column, const std::string& type, std::int64_t count,
                 std::vector<GpuIndex>& taken) {
  for (const Gpu& gpu : node.node->inventory.gpus) {
    if (count == 0) return;
    if (gpu.type != type || in_use(node, gpu.index)) continue;
    mark_used(node, column, gpu.index);
    taken.push_back(gpu.index);
    --count;
  }
}

void take_gpus(IndexedNode& node, std::size_t column, std::int64_t count,
               const GpuConstraint& constraint, const ClusterIndex& index,
               std::vector<GpuIndex>& taken) {
  const std::string& type = index.gpu_types()[column - kFirstGpu];
  if (node.machine) {
    const GpuSet free = gpus_of(node, type, GpusOf::free_now) & node.machine->gpus();
    const auto asked = static_cast<unsigned>(std::min<std::int64_t>(count, free.count()));
    const auto best = index.machines().choose(*node.machine, free, {asked, constraint});
    for (const unsigned gpu : best.value_or(GpuSet())) {
      taken.emplace_back(static_cast<GpuIndex::rep>(gpu));
      mark_used(node, column, taken.back());
      --count;
    }
  }
  take_lowest(node, column, type, count, taken);
}

// Takes a part of a device, as its first user or with other sharers.
void take_part(IndexedNode& node, const PlacedPart& part, const ClusterIndex& index,
               std::vector<GpuIndex>& taken) {
  const auto gpu = part.gpu ? part.gpu : best_free_gpu(node, part.column, index);
  if (!gpu) return;
  if (!part.joins) mark_used(node, part.column, *gpu);
  share_gpu(node, *gpu, part.column, part.thousandths);
  taken.push_back(*gpu);
}

// CPUs differ in their distance to the GPUs and in their cores.
std::vector<std::uint32_t> best_cpus(const IndexedNode& node, const std::vector<GpuIndex>& gpus,
                                     const Bitset& free, std::size_t wanted) {
  if (!node.machine || gpus.empty()) return topology::lowest_cpus(free, wanted, node.layout);
  GpuSet near;
  for (const GpuIndex gpu : gpus)
    if (gpu.value() < topology::kMaxGpus) near.insert(gpu.value());
  return topology::choose_cpus(*node.machine, near & node.machine->gpus(), free, wanted,
                               node.layout);
}

// On a node that keeps CPUs for jobs with GPUs: `unrestricted` of those that are not kept, and kept ones,
// those of the job's own GPUs first.
std::vector<std::uint32_t> best_of_restricted(const IndexedNode& node,
                                              const std::vector<GpuIndex>& gpus, std::size_t count,
                                              std::size_t unrestricted) {
  Bitset kept = node.restricted->all, others = node.restricted->others;
  kept.andnot(node.cpus_used);
  others.andnot(node.cpus_used);
  std::size_t wanted = std::min(count - unrestricted, kept.count());
  const std::size_t rest = std::min(count - wanted, others.count());
  // A job without GPUs gets none of the kept ones.
  if (unrestricted < count) wanted = std::min(count - rest, kept.count());
  Bitset own(kept.size());
  for (const topology::RestrictedCpus::OfGpu& one : node.restricted->of_gpus)
    if (std::find(gpus.begin(), gpus.end(), one.gpu) != gpus.end()) own |= one.cpus;
  own &= kept;
  kept.andnot(own);
  std::vector<std::uint32_t> ids = best_cpus(node, gpus, own, std::min(wanted, own.count()));
  const auto add = [&](const Bitset& free, std::size_t more) {
    const auto chosen = best_cpus(node, gpus, free, more);
    ids.insert(ids.end(), chosen.begin(), chosen.end());
  };
  add(kept, wanted - ids.size());
  add(others, rest);
  std::sort(ids.begin(), ids.end());
  return ids;
}

// `amount` and `unrestricted` are in the unit of the index.
std::vector<std::uint32_t> take_cpus(IndexedNode& node, std::int64_t amount,
                                     std::int64_t unrestricted, std::int64_t cpu_unit,
                                     const std::vector<GpuIndex>& gpus) {
  const std::int64_t unnamed = (node.total[kCpus] - node.free[kCpus]) -
                               static_cast<std::int64_t>(node.cpus_used.count()) * cpu_unit;
  node.free[kCpus] -= amount;
  if (unnamed != 0 || node.counts_thousandths) return {};
  const std::int64_t count = amount / cpu_unit;
  std::vector<std::uint32_t> ids;
  if (node.restricted) {
    ids = best_of_restricted(
        node, gpus, static_cast<std::size_t>(count),
        static_cast<std::size_t>(std::clamp<std::int64_t>(unrestricted / cpu_unit, 0, count)));
  } else {
    Bitset free = node.numbers ? *node.numbers : Bitset(node.cpus_used.size(), true);
    free.andnot(node.cpus_used);
    ids = best_cpus(node, gpus, free, static_cast<std::size_t>(count));
  }
  for (const std::uint32_t cpu : ids) node.cpus_used.set(cpu);
  return ids;
}

// Whether the job takes all GPUs of that type on each of its nodes.
bool takes_whole_nodes(const Demand& demand, std::size_t column, std::int64_t total) {
  if (demand.exclusive) return true;
  const auto has = [&](const std::vector<std::pair<std::size_t, std::uint32_t>>& list,
                       std::uint32_t any, std::int64_t wanted) {
    if (any > 0) return std::int64_t{any} == wanted;
    return list.size() == 1 && list.front().first == column && list.front().second == wanted;
  };
  const std::int64_t nodes = demand.min_nodes == demand.max_nodes ? demand.max_nodes : 0;
  return has(demand.gpus_per_node, demand.any_gpus_per_node, total) ||
         has(demand.gpus_total, demand.any_gpus_total, nodes * total) ||
         (demand.tasks == nodes && has(demand.gpus_per_task, demand.any_gpus_per_task, total));
}

// In containers the devices are chosen by others, and mostly nothing is known of their links. Together all of a node are as closely linked
// as the node has them.
bool is_met_by_all(const Demand& demand, const IndexedNode& node, std::size_t column,
                   std::size_t gpus) {
  const std::int64_t total = node.total[column];
  return !node.machine && static_cast<std::int64_t>(gpus) == total &&
         takes_whole_nodes(demand, column, total) && runs_containers(features_of(*node.node));
}

}  // namespace

void cap_gpus(const Demand& demand, const IndexedNode& node, GpusOf which,
              const ClusterIndex& index, std::span<std::int64_t> free) {
  if (demand.gpu_constraint.none()) return;
  for (std::size_t column = kFirstGpu; column < index.gpu_end(); ++column) {
    if (free[column] <= 0) continue;
    const GpuSet gpus = gpus_of(node, index.gpu_types()[column - kFirstGpu], which);
    if (is_met_by_all(demand, node, column, gpus.count())) continue;
    std::int64_t most = index.machines().most_together(node.machine, gpus, demand.gpu_constraint);
    if (demand.exclusive && most < node.total[column]) most = 0;
    free[column] = std::min(free[column], most);
  }
}

std::optional<GpuIndex> best_free_gpu(const IndexedNode& node, std::size_t column,
                                      const ClusterIndex& index) {
  const std::string& type = index.gpu_types()[column - kFirstGpu];
  if (node.machine) {
    const GpuSet free = gpus_of(node, type, GpusOf::free_now) & node.machine->gpus();
    const auto best = index.machines().choose(*node.machine, free, {free.empty() ? 0u : 1u, {}});
    if (best && !best->empty()) return GpuIndex(static_cast<GpuIndex::rep>(best->lowest()));
  }
  for (const Gpu& gpu : node.node->inventory.gpus)
    if (gpu.type == type && !in_use(node, gpu.index)) return gpu.index;
  return std::nullopt;
}

NodeShare choose_devices(IndexedNode& node, const PlacedShare& share,
                         const GpuConstraint& constraint, const ClusterIndex& index) {
  NodeShare chosen;
  chosen.node = node.node->id;
  chosen.incarnation = node.node->incarnation;
  chosen.tasks = share.tasks;
  index.give_cpus(share.amounts[kCpus], chosen);
  chosen.memory = Bytes(share.amounts[kMemory]);
  node.free[kMemory] -= share.amounts[kMemory];
  if (share.part) {
    chosen.gpu_part = share.part->thousandths;
    take_part(node, *share.part, index, chosen.gpus);
  }
  for (std::size_t column = index.gpu_end(); column < index.shares_end(); ++column)
    node.free[column] -= share.amounts[column];
  for (std::size_t column = kFirstGpu; column < index.gpu_end() && !share.part; ++column)
    if (share.amounts[column] > 0)
      take_gpus(node, column, share.amounts[column], constraint, index, chosen.gpus);
  std::sort(chosen.gpus.begin(), chosen.gpus.end());
  const auto column = index.unrestricted_column();
  chosen.cpu_ids = take_cpus(node, share.amounts[kCpus], column ? share.amounts[*column] : 0,
                             index.cpu_unit(), chosen.gpus);
  index.count_unrestricted(node);
  // It takes one job at a time.
  if (node.node->guard.on_trial) std::fill(node.free.begin(), node.free.end(), 0);
  return chosen;
}

}  // namespace ares::core::sched
