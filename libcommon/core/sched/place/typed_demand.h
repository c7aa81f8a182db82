// Typed: a demand whose GPUs have a type, in rows of amounts, and how many of its tasks a node can take. Pure; called many times a pass.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/sched/index/demand.h"
#include "core/sched/place/score.h"

namespace ares::core::sched {

// A demand whose untyped GPUs have been given a type. The demand must outlive it.
struct TypedDemand {
  using Row = std::span<const std::int64_t>;  // GPU columns only; CPU and memory are zero
  TypedDemand(const Demand& demand, std::size_t stride, std::optional<std::size_t> any_column);
  TypedDemand(TypedDemand&&) = default;
  TypedDemand(const TypedDemand&) = delete;  // the rows lie in it, or in the demand

  const Demand& demand;
  std::vector<std::int64_t> own_rows;
  Row per_node, total, per_task;
  std::int64_t total_count = 0;
};

// Most tasks of `demand` the room could take by itself, GPUs of each type in `gpus` needed on it, and of each in `per_task` for
// every task (empty = none).
std::uint32_t task_capacity(const Demand& demand, std::span<const std::int64_t> gpus,
                            const NodeOffer& offer, std::span<const std::int64_t> per_task = {});

// An amount of nothing, or less, is no rule: it could only divide by zero or give memory back.
MemoryRule rule_of(const Demand& demand);

}  // namespace ares::core::sched
