// RunningUse: the resources that each user holds now, from the charges on nodes. Kept from pass to
// pass and updated with changes. It sums integers, so the result equals that of a new computation.
// Part of a Ranking; not thread-safe.
#pragma once

#include <unordered_map>

#include "core/sched/index/cluster_index.h"
#include "model/cluster/node.h"

namespace ares::core::sched {

// Sum over all nodes in any state. GPUs are counted in thousandths.
Amounts capacity_of(const ClusterIndex& index);

class RunningUse {
 public:
  // Null: the user holds nothing.
  const Amounts* of(UserId user) const;

  void add(const Node& node, const ClusterIndex& index) { count(node, index, 1); }
  // Precondition: the same record was added, with an index of the same columns.
  void remove(const Node& node, const ClusterIndex& index) { count(node, index, -1); }

 private:
  void count(const Node& node, const ClusterIndex& index, int sign);

  std::unordered_map<UserId, Amounts> by_user_;
};

}  // namespace ares::core::sched
