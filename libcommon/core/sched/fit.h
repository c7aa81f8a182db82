// fit(): whether and how a demand can be placed on nodes with given room. Gang: all of it or
// nothing. Pure; called many times a pass. Order of the result is rank order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/sched/cluster_index.h"
#include "core/sched/demand.h"

namespace ares::core::sched {

// What one candidate node can give. `free` and `total` are Amounts of the same stride.
struct Room {
  NodeIndex node = 0;
  std::span<const std::int64_t> free;
  std::span<const std::int64_t> total;
  bool required = false;  // must be part of the placement
};

struct PlacedShare {
  NodeIndex node = 0;
  std::uint32_t tasks = 0;
  Amounts amounts;  // taken of the node
};

using Placement = std::vector<PlacedShare>;  // ascending node

// Fewest nodes that hold the tasks, and of those the tightest; ties by node order. Prefers nodes
// whose GPUs the job would not leave idle. Tasks are spread evenly.
std::optional<Placement> fit(const Demand& demand, std::span<const Room> rooms);

// The same choice for a demand of one node whose GPUs are all typed and a node's own: the bulk of all jobs. Looks at each
// room once and allocates nothing.
class OneNode {
 public:
  static bool suits(const Demand& demand);
  OneNode(const Demand& demand, std::size_t stride);
  void offer(const Room& room);
  std::optional<Placement> placement() const;

 private:
  const Demand& demand_;
  Amounts gpus_;  // per node; CPU and memory stay zero
  std::optional<Room> best_;
  std::tuple<std::int64_t, std::int64_t, std::int64_t, NodeIndex> waste_;
};

// Most tasks of `demand` the room could take by itself, GPUs of each type in `gpus` needed on it, and of each in `per_task` for
// every task (empty = none).
std::uint32_t task_capacity(const Demand& demand, const Amounts& gpus, const Room& room,
                            std::span<const std::int64_t> per_task = {});

}  // namespace ares::core::sched
