// Demand: the resources that one job needs in a partition, with defaults filled in.
// A plain value made from a specification; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
  per_cpu,   // `memory` for each allocated CPU
  per_task,  // `memory` for each task
  whole,     // all memory of the node
};

struct Demand {
  std::uint32_t min_nodes = 1;
  std::uint32_t max_nodes = 1;
  std::uint32_t tasks = 1;  // at least min_nodes
  // CPUs are in the unit of the index: ClusterIndex::cpu_unit() of them are one CPU.
  std::int64_t cpu_unit = 1;
  std::uint32_t cpus_per_task = 1;
  // Instead of cpus_per_task on nodes that count thousandths, if the job requests a fraction of a CPU.
  std::uint32_t exact_cpus_per_task = 1;
  // Column that is above 0 in the totals of these nodes. None: the job requests whole CPUs, or no node counts
  // thousandths.
  std::optional<std::size_t> exact;
  std::uint32_t tasks_per_node = 0;  // 0: as many as fit
  std::uint32_t min_cpus_per_node = 0;
  // A node whose CPUs are all free takes any number of tasks, which share them.
  bool overcommit = false;
  // The job requested a range of nodes, and one task on each node is enough.
  bool as_many_nodes = false;
  MemoryRule memory_rule = MemoryRule::none;
  Bytes memory{};
  bool exclusive = false;
  // Columns of CPUs, memory and GPUs in Amounts.
  std::size_t gpu_end = kFirstGpu;
  // Column of the CPUs that the partition's jobs may have on a node. The job's CPUs count there as
  // well. None: the partition does not limit them.
  std::optional<std::size_t> cpu_share;
  // Column of the attempts that a node takes, of which the job is one. None: no node limits them.
  std::optional<std::size_t> attempts;
  // Column of temporary storage, and the MiB of it that the job has on each node. None: it asks for
  // none, or no node knows its own.
  std::optional<std::size_t> tmp_disk;
  std::int64_t tmp_mebibytes = 0;
  // Column of the CPUs that are not kept for jobs with GPUs. The job's CPUs of these count there as
  // well. None: no node keeps any.
  std::optional<std::size_t> unrestricted;
  // The job may have only those.
  bool only_unrestricted = false;
  // The user and reservations that decide which nodes the job may share.
  AccessRequest access;
  // Ascending; empty: any number from min_nodes to max_nodes.
  std::vector<std::uint32_t> node_counts;

  // The part of --constraint that concerns the set of nodes; filter() handles the part that
  // concerns each node alone. Bit i of a node's tag is set if the node meets clause i. The first
  // clauses are alternatives: all nodes must meet the same one. The others are counts. Only fit()
  // can place such a demand.
  struct Tags {
    std::vector<std::uint64_t> of_node;  // by NodeIndex
    std::size_t alternatives = 0;
    // Minimum number of nodes for each count clause.
    std::vector<std::uint32_t> counts;
  };
  std::shared_ptr<const Tags> tags;

  // By column of Amounts. The GPUs of the `any_` counts below are all of one type, which is chosen
  // once for the whole job.
  std::vector<std::pair<std::size_t, std::uint32_t>> gpus_per_node;
  std::vector<std::pair<std::size_t, std::uint32_t>> gpus_total;
  std::vector<std::pair<std::size_t, std::uint32_t>> gpus_per_task;
  // The same as three rows by column: per node, in total, per task. Made once for all searches;
  // empty if not made.
  std::vector<std::int64_t> gpu_rows;
  std::uint32_t any_gpus_per_node = 0;
  std::uint32_t any_gpus_total = 0;
  std::uint32_t any_gpus_per_task = 0;
  // The partition cannot meet the `any_` counts with GPUs of one type, however empty it is: each node then gives GPUs of one type, and
  // nodes may give different ones. Only for demands of several nodes. Set by JobClasses.
  bool mixes_gpu_types = false;
  bool unknown_gpu_type = false;  // the job requests a type that no node has
  // Thousandths of the one GPU that the job requests on each node, if that GPU may be shared. 0:
  // the GPU is not shared or has no known type.
  std::uint32_t gpu_part = 0;

  GpuConstraint gpu_constraint;  // applies to all GPUs of one node together

  // Rule for choosing among suitable nodes, see score.h. `workload` belongs to the planner; null:
  // there is none.
  PlacementStrategy strategy = PlacementStrategy::binpack;
  const WorkloadHistogram* workload = nullptr;
  std::shared_ptr<const Bitset> preferred;  // by NodeIndex; null: no preference

  // Answers of the site's plugins for the job's plugin class; null: no plugin filters or scores it.
  // See plugin_classes.h.
  std::shared_ptr<PluginClass> plugin_class;

  // Network distances between nodes, see topology/network.h. Owned by the index; null: not known.
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

// CPUs of each task on a node with these amounts in all.
inline std::int64_t cpus_per_task_on(const Demand& demand, std::span<const std::int64_t> total) {
  return demand.exact && total[*demand.exact] > 0 ? demand.exact_cpus_per_task
                                                  : demand.cpus_per_task;
}
// The fewest that a task gets on any node.
inline std::int64_t fewest_cpus_per_task(const Demand& demand) {
  return demand.exact ? demand.exact_cpus_per_task : demand.cpus_per_task;
}

// CPUs that so many tasks of `each` CPUs get on a node with `total` CPUs.
inline std::int64_t cpus_of_tasks(const Demand& demand, std::int64_t tasks, std::int64_t each,
                                  std::int64_t total) {
  const std::int64_t cpus = tasks * each;
  return demand.overcommit ? std::clamp<std::int64_t>(total, 1, std::max<std::int64_t>(cpus, 1))
                           : cpus;
}

// `relaxed`: the job has waited long enough that its limit on switches no longer applies.
Demand make_demand(const JobSpec& spec, const Partition& partition, ClusterIndex& index,
                   bool relaxed = false);

// Computes the value of Demand::gpu_rows.
std::vector<std::int64_t> gpu_rows_of(const Demand& demand);

// Only the numbers of the demand, without the parts that distinguish one node from another.
Demand make_amounts(const JobSpec& spec, const Partition& partition, const ClusterIndex& index);

// The CPUs of a node with these free amounts that the job could get.
inline std::int64_t cpus_for(const Demand& demand, std::span<const std::int64_t> free) {
  if (demand.attempts && free[*demand.attempts] < 1) return 0;
  if (demand.tmp_disk && free[*demand.tmp_disk] < demand.tmp_mebibytes) return 0;
  std::int64_t cpus = free[kCpus];
  if (demand.cpu_share) cpus = std::min(cpus, free[*demand.cpu_share]);
  if (demand.only_unrestricted) cpus = std::min(cpus, free[*demand.unrestricted]);
  return cpus;
}

// CPUs that so many tasks get on a node with these amounts in all.
inline std::int64_t cpus_of_tasks(const Demand& demand, std::int64_t tasks,
                                  std::span<const std::int64_t> total) {
  return cpus_of_tasks(demand, tasks, cpus_per_task_on(demand, total), cpus_for(demand, total));
}

// Memory that so many CPUs get where it is requested for each CPU.
std::int64_t memory_of_cpus(const Demand& demand, std::int64_t cpus);

// The time at which the limit on the job's switches stops to apply; none: it has no such limit, or
// the limit applies without end.
std::optional<Time> relaxed_from(const Job& job);

// Whether the node search treats two jobs alike: same demand, filters and excluded nodes, and, with
// `by_user`, the same user.
bool same_job_class(const Job& a, const Job& b, bool by_user);
std::size_t job_class_hash(const Job& job, bool by_user);

}  // namespace ares::core::sched
