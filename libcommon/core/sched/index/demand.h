// Demand: what one job needs of nodes, in a partition, with the defaults filled in.
// A plain value made from a specification; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bitset.h"
#include "base/units.h"
#include "core/sched/index/cluster_index.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core::sched {

class WorkloadHistogram;
class PluginClass;

enum class MemoryRule : std::uint8_t {
  none,      // no memory is charged
  per_node,  // `memory` on each node
  per_cpu,   // `memory` for each CPU given
  per_task,  // `memory` for each task
  whole,     // all memory of the node
};

struct Demand {
  std::uint32_t min_nodes = 1;
  std::uint32_t max_nodes = 1;
  std::uint32_t tasks = 1;  // at least min_nodes
  std::uint32_t cpus_per_task = 1;
  std::uint32_t tasks_per_node = 0;  // 0 = as many as fit
  std::uint32_t min_cpus_per_node = 0;
  bool as_many_nodes = false;  // a range of nodes was given and one task a node is enough
  MemoryRule memory_rule = MemoryRule::none;
  Bytes memory{};
  bool exclusive = false;
  AccessRequest access;                    // whose nodes it may share
  std::vector<std::uint32_t> node_counts;  // ascending; empty = any number from min to max

  // What --constraint asks of the set of nodes (every node's own part is filter()'s). Bit i of a
  // node's tag says that it meets clause i: first the alternatives of which all nodes must meet the
  // same one, then the counts. Only fit() knows how to place such a demand.
  struct Tags {
    std::vector<std::uint64_t> of_node;  // by NodeIndex
    std::size_t alternatives = 0;
    std::vector<std::uint32_t> counts;  // at least so many nodes each
  };
  std::shared_ptr<const Tags> tags;

  // By column of Amounts. `any` counts are of one type, chosen once for the whole job.
  std::vector<std::pair<std::size_t, std::uint32_t>> gpus_per_node;
  std::vector<std::pair<std::size_t, std::uint32_t>> gpus_total;
  std::vector<std::pair<std::size_t, std::uint32_t>> gpus_per_task;
  // The same as three rows by column, made once for all searches: on each node, in total, for each task. Empty: not made.
  std::vector<std::int64_t> gpu_rows;
  std::uint32_t any_gpus_per_node = 0;
  std::uint32_t any_gpus_total = 0;
  std::uint32_t any_gpus_per_task = 0;
  bool unknown_gpu_type = false;  // asks for a type that no node has
  // Thousandths: the one GPU that it asks for on each node may be shared; 0: it is its own, or of no known type.
  std::uint32_t gpu_part = 0;

  GpuConstraint gpu_constraint;  // on all GPUs of one node together

  // Which of the nodes that would do: see score.h. `mix` is the planner's; null: there is none.
  PlacementStrategy strategy = PlacementStrategy::binpack;
  const WorkloadHistogram* workload = nullptr;
  std::shared_ptr<const Bitset> preferred;  // by NodeIndex; null = none more than others

  // What the site's plugins say of its class of jobs; null: none has a say. See plugged.h.
  std::shared_ptr<PluginClass> plugin_class;

  // How several nodes lie to each other: see topology/network.h. The index's; null: nothing is known.
  const topology::Network* network = nullptr;
  topology::PackLimits limits;
  bool limited() const { return limits.max_leaves > 0 || limits.segment > 1; }

  bool wants_any_gpu() const {
    return any_gpus_per_node > 0 || any_gpus_total > 0 || any_gpus_per_task > 0;
  }
  bool wants_gpus() const {
    return wants_any_gpu() || !gpus_per_node.empty() || !gpus_total.empty() ||
           !gpus_per_task.empty();
  }
};

// `relaxed`: the job has waited so long that the bound on its switches counts no more.
Demand make_demand(const JobSpec& spec, const Partition& partition, ClusterIndex& index,
                   bool relaxed = false);

// What Demand::gpu_rows holds.
std::vector<std::int64_t> gpu_rows_of(const Demand& demand, std::size_t stride);

// The numbers alone, without what tells one node from another.
Demand make_amounts(const JobSpec& spec, const Partition& partition, const ClusterIndex& index);

// From when on the bound on the job's switches counts no more; none: it has none, or it counts for ever.
std::optional<Time> relaxed_from(const Job& job);

// Whether two jobs are the same to the node search: the same demand, filters and excluded nodes, and, if nodes are told apart
// `by_user`, the same user.
bool same_job_class(const Job& a, const Job& b, bool by_user);
std::size_t job_class_hash(const Job& job, bool by_user);

}  // namespace ares::core::sched
