// CapacityBuckets: for each column of Amounts which nodes have at least so much free, in steps, so that a search passes over nodes
// that cannot do without looking at them. A part of ClusterIndex, which keeps it up to date; not thread-safe.
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

  // What the node has free from now on; `free` has the stride.
  void set(std::size_t node, std::span<const std::int64_t> free);

  // The row last set.
  std::span<const std::int64_t> free(std::size_t node) const {
    return std::span(free_).subspan(node * stride_, stride_);
  }

  // Takes from `nodes` such as have less than `amount` free of the column. Steps are exact up to 15 (CPUs, GPUs) and an eighth
  // apart above; memory counts in units of 64 MiB. A node that has a little less may stay.
  void retain_at_least(std::size_t column, std::int64_t amount, Bitset& nodes) const;

 private:
  std::size_t nodes_ = 0;
  std::size_t stride_ = 0;
  std::vector<std::int64_t>
      free_;  // node times stride: close together, for those who look at many nodes
  std::vector<std::uint16_t> bucket_;          // node times stride
  std::vector<std::vector<Bitset>> at_least_;  // by column, then level less one
};

}  // namespace ares::core::sched
