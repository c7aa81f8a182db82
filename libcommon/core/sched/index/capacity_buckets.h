// CapacityBuckets: for each column of Amounts, bit sets of the nodes that have at least a given
// amount free, in steps. Searches use them to skip nodes with too little free. Part of
// ClusterIndex, which keeps it up to date; not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bitset.h"

namespace ares::core::sched {

class CapacityBuckets {
 public:
  CapacityBuckets() = default;
  CapacityBuckets(std::size_t nodes, std::size_t stride);

  // Sets the free amounts of the node. `free` is one row of the stride.
  void set(std::size_t node, std::span<const std::int64_t> free);

  // The row that was last set.
  std::span<const std::int64_t> free(std::size_t node) const {
    return std::span(free_).subspan(node * stride_, stride_);
  }

  // Removes from `nodes` the nodes with less than `amount` free in the column. Steps are exact up
  // to 15 (CPUs, GPUs) and one eighth apart above; memory is counted in units of 64 MiB. A node
  // with slightly less than `amount` may therefore remain.
  void retain_at_least(std::size_t column, std::int64_t amount, Bitset& nodes) const;

 private:
  std::size_t nodes_ = 0;
  std::size_t stride_ = 0;
  // One row of the stride for each node, contiguous because searches read many nodes.
  std::vector<std::int64_t> free_;
  // One bucket for each entry of `free_`.
  std::vector<std::uint16_t> bucket_;
  // By column, then bucket number minus one.
  std::vector<std::vector<Bitset>> at_least_;
};

}  // namespace ares::core::sched
