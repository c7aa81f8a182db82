// RunningUse: what each user has of the cluster now, from the charges on its nodes. Kept from pass to pass by what changed: sums of
// integers, so that it is what a new one would be. Part of a Ranking; not thread-safe.
#pragma once

#include <unordered_map>

#include "core/sched/index/cluster_index.h"
#include "model/cluster/node.h"

namespace ares::core::sched {

// Of all nodes together, whatever their state. Here GPUs are counted in thousandths.
Amounts capacity_of(const ClusterIndex& index);

class RunningUse {
 public:
  // Null: nothing.
  const Amounts* of(UserId user) const;

  void add(const Node& node, const ClusterIndex& index) { count(node, index, 1); }
  // Precondition: that very record was added, under an index of the same columns.
  void remove(const Node& node, const ClusterIndex& index) { count(node, index, -1); }

 private:
  void count(const Node& node, const ClusterIndex& index, int sign);

  std::unordered_map<UserId, Amounts> by_user_;
};

}  // namespace ares::core::sched
