// Shortlist: of all nodes that can take a part of a demand those among which fit() chooses, told by counting tasks instead of
// putting the nodes in order. Lives for one search; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/fit.h"

namespace ares::core::sched {

// How many tasks of a demand a node can take, as far as it matters: each node of a placement holds one at least, and one node holds all
// or none. For demands whose GPUs have a type. The demand must outlive it.
class Capacity {
 public:
  Capacity(const Demand& demand, std::size_t stride);
  // `total` is looked at only by demands for whole nodes, and may be empty for others.
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
  // Whether which nodes are chosen depends on nothing but how many tasks each can take, and its score.
  static bool suits(const Demand& demand);

  // Precondition: suits(). The demand must outlive it. `expected`: so many nodes may be offered.
  Shortlist(const Demand& demand, std::size_t stride, std::size_t expected);

  // Of nodes with room for a task or more, ascending, by what is free there.
  void add(NodeIndex node, std::span<const std::int64_t> free, std::span<const std::int64_t> total);
  // By what Capacity says, where what is free is not known.
  void add(NodeIndex node, std::uint32_t tasks);

  const Capacity& capacity() const { return capacity_; }
  std::size_t offered() const { return nodes_.size(); }

  // Ascending. fit() makes the same of these as of all that were offered; empty: they do not hold the demand.
  std::vector<NodeIndex> best() const;

 private:
  struct Offered {
    NodeIndex node;
    std::uint32_t tasks;
    std::int32_t spare;  // GPUs
  };
  // Of how many nodes a placement consists, and how many tasks the least roomy of as many has, the roomiest first.
  struct Size {
    std::size_t nodes = 0;  // 0: there is none
    std::uint32_t least = 0;
  };
  Size size() const;
  // At least so many tasks, of these the `count` that binpack prefers, and their equals.
  std::vector<NodeIndex> tightest(std::uint32_t tasks, std::size_t count) const;

  const Demand& demand_;
  const Capacity capacity_;
  const bool by_tightness_;
  bool knows_spare_;
  std::uint32_t largest_ = 0;
  std::vector<Offered> nodes_;
};

}  // namespace ares::core::sched
