#include "core/sched/place/nodes_with_capacity.h"

#include <algorithm>

#include "core/sched/place/fit.h"
#include "core/sched/place/shared_gpus.h"

namespace ares::core::sched {
namespace {

// One node takes all tasks; each of several nodes takes at least one.
std::int64_t tasks_of_first(const Demand& demand) {
  return demand.max_nodes == 1 ? demand.tasks : 1;
}

// The test of nodes_with_capacity() for one node, exact.
bool has_capacity(const Demand& demand, const IndexedNode& node,
                  std::span<const std::int64_t> free) {
  const std::int64_t tasks = tasks_of_first(demand);
  const std::int64_t cpus = cpus_of_tasks(demand, tasks, node.total);
  if (cpus_for(demand, free) < cpus || free[kMemory] < least_memory(demand, tasks, cpus))
    return false;
  for (const auto& [column, count] : demand.gpus_per_node)
    if (free[column] < count) return false;
  return node.tenants.admits(demand.access);
}

// Keeps the nodes with a free GPU or a shared GPU, for a job that needs a part of one.
void retain_for_part(const Demand& demand, const ClusterIndex& index, Bitset& nodes) {
  Bitset with = nodes;
  with &= index.sharing();
  for (std::size_t column = kFirstGpu; column < index.gpu_end(); ++column) {
    if (!demand.gpus_per_node.empty() && demand.gpus_per_node.front().first != column) continue;
    Bitset of_type = nodes;
    index.capacity_buckets().retain_at_least(column, 1, of_type);
    with |= of_type;
  }
  nodes = std::move(with);
}

// The CPUs and memory that an overcommitted job gets on a node depend on the size of the node.
void retain_for_overcommit(const Demand& demand, const ClusterIndex& index, Bitset& nodes) {
  const CapacityBuckets& buckets = index.capacity_buckets();
  const std::int64_t tasks = tasks_of_first(demand);
  Bitset with(nodes.size());
  nodes.for_each([&](std::size_t at) {
    const auto free = buckets.free(static_cast<NodeIndex>(at));
    const std::int64_t cpus = cpus_of_tasks(demand, tasks, index.nodes()[at].total);
    if (cpus_for(demand, free) >= std::max(cpus, std::int64_t{demand.min_cpus_per_node}) &&
        free[kMemory] >= least_memory(demand, tasks, cpus))
      with.set(at);
  });
  nodes = std::move(with);
}

// Whether the tasks that each node can take are counted separately, independent of the other nodes.
bool counts_nodes(const Demand& demand) {
  return !demand.wants_any_gpu() && !demand.tags && demand.node_counts.empty();
}

}  // namespace

Bitset nodes_with_capacity(const Demand& demand, const Bitset& among, const ClusterIndex& index) {
  Bitset nodes = among;
  const CapacityBuckets& buckets = index.capacity_buckets();
  const std::int64_t tasks = tasks_of_first(demand);
  // Of an overcommitted job the fewest that it can get, on the smallest node.
  const std::int64_t of_tasks = cpus_of_tasks(demand, tasks, fewest_cpus_per_task(demand), 1);
  const std::int64_t cpus = std::max(of_tasks, std::int64_t{demand.min_cpus_per_node});
  buckets.retain_at_least(kCpus, cpus, nodes);
  if (demand.cpu_share) buckets.retain_at_least(*demand.cpu_share, cpus, nodes);
  if (demand.attempts) buckets.retain_at_least(*demand.attempts, 1, nodes);
  if (demand.tmp_disk) buckets.retain_at_least(*demand.tmp_disk, demand.tmp_mebibytes, nodes);
  if (demand.only_unrestricted) buckets.retain_at_least(*demand.unrestricted, cpus, nodes);
  buckets.retain_at_least(kMemory, least_memory(demand, tasks, of_tasks), nodes);
  if (demand.overcommit) retain_for_overcommit(demand, index, nodes);
  if (demand.gpu_part > 0) {
    retain_for_part(demand, index, nodes);
    return nodes;
  }
  for (const auto& [column, count] : demand.gpus_per_node)
    buckets.retain_at_least(column, count, nodes);
  for (const auto& [column, count] : demand.gpus_per_task)
    buckets.retain_at_least(column, tasks * std::int64_t{count}, nodes);
  if (demand.max_nodes == 1)
    for (const auto& [column, count] : demand.gpus_total)
      buckets.retain_at_least(column, count, nodes);
  if (demand.exclusive) nodes &= index.idle();
  const std::int64_t any =
      std::max({std::int64_t{demand.any_gpus_per_node}, tasks * demand.any_gpus_per_task,
                demand.max_nodes == 1 ? std::int64_t{demand.any_gpus_total} : 0});
  if (any == 0) return nodes;
  Bitset with(nodes.size());
  for (std::size_t column = kFirstGpu; column < index.gpu_end(); ++column) {
    Bitset of_type = nodes;
    buckets.retain_at_least(column, any, of_type);
    with |= of_type;
  }
  return with;
}

bool stays_blocked(const Demand& demand) {
  // It is not known what the plugins depend on.
  if (demand.plugin_class) return false;
  if (demand.max_nodes == 1) return true;
  return demand.gpus_total.empty() && demand.any_gpus_total == 0 && !demand.tags &&
         !demand.limited();
}

std::int64_t tasks_now(const Demand& demand, NodeIndex at, const ClusterIndex& index) {
  const IndexedNode& node = index.nodes()[at];
  Amounts row;
  const auto free = free_to_join(demand, node, row);
  if (!has_capacity(demand, node, free)) return 0;
  const TypedDemand typed(demand, std::nullopt);
  return task_capacity(demand, typed.per_node, {at, free, node.total, false}, typed.per_task);
}

Shortfall shortfall_of(const Demand& demand, const Bitset& among, const ClusterIndex& index) {
  if (demand.max_nodes == 1 || !counts_nodes(demand)) return {1, 0};
  const TypedDemand typed(demand, std::nullopt);
  std::int64_t nodes = 0, tasks = 0;
  Amounts row;
  nodes_with_capacity(demand, among, index).for_each([&](std::size_t at) {
    const IndexedNode& node = index.nodes()[at];
    if (!node.tenants.admits(demand.access)) return;
    const std::int64_t here = task_capacity(
        demand, typed.per_node,
        {static_cast<NodeIndex>(at), free_to_join(demand, node, row), node.total, false},
        typed.per_task);
    nodes += here > 0 ? 1 : 0;
    tasks += here;
  });
  const Shortfall shortfall{std::int64_t{demand.min_nodes} - nodes,
                            std::int64_t{demand.tasks} - tasks};
  return shortfall.any() ? shortfall : Shortfall{1, 0};
}

}  // namespace ares::core::sched
