// Shortlist: from all nodes that can take a part of a demand, those that fit() needs for its
// choice. Found by counting tasks instead of sorting the nodes. Lives for one search; not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/fit.h"

namespace ares::core::sched {

// Number of tasks of a demand that a node can take, limited to what matters: each node of a
// placement holds at least one, and for a demand of one node the node holds all or none. For
// demands whose GPUs have a type. The demand must outlive the object.
class Capacity {
 public:
  explicit Capacity(const Demand& demand);
  // `total` is read only if looks_at_total(), and may be empty otherwise.
  std::uint32_t of(std::span<const std::int64_t> free, std::span<const std::int64_t> total) const;
  bool looks_at_total() const { return looks_at_total_; }
  std::uint32_t most() const { return most_; }
  std::int64_t spare_gpus(std::span<const std::int64_t> free) const;

 private:
  const Demand& demand_;
  TypedDemand typed_;
  std::uint32_t most_ = 1;
  bool looks_at_total_ = false;
};

class Shortlist {
 public:
  // Whether the choice of nodes depends only on how many tasks each node can take, and on its
  // score.
  static bool suits(const Demand& demand);

  // Precondition: suits(). The demand must outlive the object. `expected`: the largest number of
  // nodes that will be added.
  Shortlist(const Demand& demand, std::size_t expected);

  // Adds a node with capacity for at least one task, given its free amounts. Nodes are added in
  // ascending order.
  void add(NodeIndex node, std::span<const std::int64_t> free, std::span<const std::int64_t> total);
  // Adds a node with a number of tasks as computed by Capacity, where its free amounts are not
  // known.
  void add(NodeIndex node, std::uint32_t tasks);

  const Capacity& capacity() const { return capacity_; }
  std::size_t offered() const { return nodes_.size(); }

  // Ascending. fit() makes the same choice from these nodes as from all nodes that were added.
  // Empty: they do not hold the demand.
  std::vector<NodeIndex> best() const;

 private:
  struct Offered {
    NodeIndex node;
    std::uint32_t tasks;
    std::int32_t spare;  // GPUs
  };
  // The number of nodes of a placement, and the tasks of the smallest of that many nodes, largest
  // first.
  struct Size {
    std::size_t nodes = 0;  // 0: no such number
    std::uint32_t least = 0;
  };
  Size size() const;
  // The `count` nodes with at least `tasks` tasks that binpack prefers, and all nodes equal to the
  // last of them.
  std::vector<NodeIndex> tightest(std::uint32_t tasks, std::size_t count) const;

  const Demand& demand_;
  const Capacity capacity_;
  const bool by_tightness_;
  bool knows_spare_;
  std::uint32_t largest_ = 0;
  std::vector<Offered> nodes_;
};

}  // namespace ares::core::sched
