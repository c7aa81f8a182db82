// fit(): whether and how a demand can be placed on nodes with given room. Gang: all of it or
// nothing. Pure; called many times a pass. Order of the result is rank order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/score.h"

namespace ares::core::sched {

// A demand whose untyped GPUs have been given a type. The demand must outlive it.
struct Typed {
  using Row = std::span<const std::int64_t>;  // GPU columns only; CPU and memory are zero
  Typed(const Demand& demand, std::size_t stride, std::optional<std::size_t> any_column);
  Typed(Typed&&) = default;
  Typed(const Typed&) = delete;  // the rows lie in it, or in the demand

  const Demand& demand;
  std::vector<std::int64_t> own_rows;
  Row per_node, total, per_task;
  std::int64_t total_count = 0;
};

// A part of one GPU.
struct PlacedPart {
  std::size_t column = 0;  // the device's type, of Amounts
  std::uint32_t thousandths = 0;
  std::optional<GpuIndex> gpu{};  // none: not chosen yet, for it starts later
  bool joins = false;             // a device that others have parts of: no whole one is taken
};

struct PlacedShare {
  NodeIndex node = 0;
  std::uint32_t tasks = 0;
  Amounts amounts;  // taken of the node
  std::optional<PlacedPart> part{};
};

// In rank order: ascending node, or along the network where there is one.
using Placement = std::vector<PlacedShare>;

// Fewest nodes that hold the tasks, and of those the ones of the best score; ties by node order. Several nodes are taken close
// together in the demand's network and within its limits. Tasks are spread evenly. With limits each node must be able to
// take an even share.
std::optional<Placement> fit(const Demand& demand, std::span<const Room> rooms);

// The same choice for a demand of one node whose GPUs are a node's own: the bulk of all jobs. GPUs of no type are of the type that
// the best node gives. Looks at each room once and allocates nothing.
class OneNode {
 public:
  static bool suits(const Demand& demand);
  OneNode(const Demand& demand, std::size_t stride);
  void offer(const Room& room);
  std::optional<Placement> placement() const;

 private:
  const Demand& demand_;
  std::vector<Typed> types_;  // that it may get
  Amounts take_;              // room to reckon in
  std::optional<Room> best_;
  std::size_t best_type_ = 0;
  std::int64_t best_tasks_ = 0;
  Score score_;
};

// Most tasks of `demand` the room could take by itself, GPUs of each type in `gpus` needed on it, and of each in `per_task` for
// every task (empty = none).
std::uint32_t task_capacity(const Demand& demand, std::span<const std::int64_t> gpus,
                            const Room& room, std::span<const std::int64_t> per_task = {});

}  // namespace ares::core::sched
