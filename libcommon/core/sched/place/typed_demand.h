// TypedDemand: a demand whose GPUs have a type, as rows of amounts, and the number of its tasks
// that a node can take.
// Pure; called many times in a pass.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/sched/index/demand.h"
#include "core/sched/place/score.h"

namespace ares::core::sched {

// A demand whose untyped GPUs got a type. The demand must outlive it.
struct TypedDemand {
  // Up to Demand::gpu_end; CPU and memory are zero.
  using Row = std::span<const std::int64_t>;
  TypedDemand(const Demand& demand, std::optional<std::size_t> any_column);
  TypedDemand(TypedDemand&&) = default;
  // Deleted because the rows point into the object itself, or into the demand.
  TypedDemand(const TypedDemand&) = delete;

  const Demand& demand;
  std::vector<std::int64_t> own_rows;
  Row per_node, total, per_task;
  std::int64_t total_count = 0;
};

// The most tasks of `demand` that the offer alone could hold, if it must provide the GPUs of each
// type in `gpus`, and the GPUs in `per_task` for every task (empty: none).
std::uint32_t task_capacity(const Demand& demand, std::span<const std::int64_t> gpus,
                            const NodeOffer& offer, std::span<const std::int64_t> per_task = {});

// A memory amount of zero or less counts as no rule, because it could only cause a division by zero
// or return memory.
MemoryRule rule_of(const Demand& demand);

// Memory without which a node takes no `tasks` tasks with `cpus` CPUs. 0 if they get all of it.
std::int64_t least_memory(const Demand& demand, std::int64_t tasks, std::int64_t cpus);

}  // namespace ares::core::sched
