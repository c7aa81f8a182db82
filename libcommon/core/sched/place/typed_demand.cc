#include "core/sched/place/typed_demand.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/saturating.h"

namespace ares::core::sched {

MemoryRule rule_of(const Demand& demand) {
  const bool amount =
      demand.memory_rule != MemoryRule::none && demand.memory_rule != MemoryRule::whole;
  return amount && demand.memory <= Bytes{} ? MemoryRule::none : demand.memory_rule;
}

std::int64_t least_memory(const Demand& demand, std::int64_t tasks, std::int64_t cpus) {
  const std::int64_t memory = demand.memory.value();
  switch (rule_of(demand)) {
    case MemoryRule::none:
    case MemoryRule::whole: return 0;
    case MemoryRule::per_node: return memory;
    case MemoryRule::per_cpu: return memory_of_cpus(demand, cpus);
    case MemoryRule::per_task: return capped_product(memory, tasks);
  }
  return 0;
}

namespace {

// The most tasks of so many CPUs each for which the memory is enough, at so much memory for each CPU.
std::int64_t tasks_by_memory(const Demand& demand, std::int64_t each, std::int64_t free) {
  if (demand.cpu_unit == 1) return free / demand.memory.value() / each;
  return capped_product(free, demand.cpu_unit) / capped_product(demand.memory.value(), each);
}

}  // namespace

TypedDemand::TypedDemand(const Demand& of, std::optional<std::size_t> any_column) : demand(of) {
  const std::size_t stride = of.gpu_end;
  if (any_column || of.gpu_rows.size() != 3 * stride) own_rows = gpu_rows_of(of);
  if (any_column) {
    own_rows[*any_column] += of.any_gpus_per_node;
    own_rows[stride + *any_column] += of.any_gpus_total;
    own_rows[2 * stride + *any_column] += of.any_gpus_per_task;
  }
  const Row rows = own_rows.empty() ? Row(of.gpu_rows) : Row(own_rows);
  per_node = rows.first(stride);
  total = rows.subspan(stride, stride);
  per_task = rows.last(stride);
  total_count = std::accumulate(total.begin(), total.end(), std::int64_t{0});
}

std::uint32_t task_capacity(const Demand& demand, std::span<const std::int64_t> gpus,
                            const NodeOffer& offer, std::span<const std::int64_t> per_task) {
  const std::int64_t cpus = cpus_for(demand, offer.free);
  if (cpus < std::int64_t{demand.min_cpus_per_node}) return 0;
  if (demand.exclusive && cpus != offer.total[kCpus]) return 0;
  for (std::size_t column = kFirstGpu; column < gpus.size(); ++column)
    if (offer.free[column] < gpus[column]) return 0;

  const std::int64_t memory = demand.memory.value();
  const std::int64_t each = cpus_per_task_on(demand, offer.total);
  std::int64_t tasks = cpus / each;
  // All of the node's CPUs are free: the tasks may share them.
  const bool shares = demand.overcommit && cpus > 0 && cpus == cpus_for(demand, offer.total);
  if (shares) tasks = std::max<std::int64_t>(tasks, demand.tasks);
  for (std::size_t column = kFirstGpu; column < per_task.size(); ++column)
    if (per_task[column] > 0)
      tasks = std::min(tasks, (offer.free[column] - gpus[column]) / per_task[column]);
  switch (rule_of(demand)) {
    case MemoryRule::none: break;
    case MemoryRule::per_node:
      if (offer.free[kMemory] < memory) return 0;
      break;
    case MemoryRule::per_cpu:
      if (!shares || offer.free[kMemory] < memory_of_cpus(demand, cpus))
        tasks = std::min(tasks, tasks_by_memory(demand, each, offer.free[kMemory]));
      break;
    case MemoryRule::per_task: tasks = std::min(tasks, offer.free[kMemory] / memory); break;
    case MemoryRule::whole:
      if (offer.free[kMemory] != offer.total[kMemory] || offer.total[kMemory] == 0) return 0;
      break;
  }
  if (demand.tasks_per_node > 0) tasks = std::min<std::int64_t>(tasks, demand.tasks_per_node);
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(tasks, 0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace ares::core::sched
