// nodes_with_capacity(): the nodes that may have capacity for a part of a demand now, and what that
// implies for later passes. Pure; called for every search.
#pragma once

#include <cstdint>

#include "base/bitset.h"
#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"

namespace ares::core::sched {

// The nodes of `among` without those that certainly have too little free for any part of the
// demand. Others may also have too little: task_capacity() decides.
Bitset nodes_with_capacity(const Demand& demand, const Bitset& among, const ClusterIndex& index);

// Whether a demand that does not fit can fit only after some node gets more free. False where the
// choice of nodes is a heuristic or depends on network distances.
bool stays_blocked(const Demand& demand);

// Amounts by which a demand does not fit: missing nodes that can take a task, and missing tasks.
// While either is above zero the demand does not fit; otherwise it may or may not fit.
struct Shortfall {
  std::int64_t nodes = 0;
  std::int64_t tasks = 0;
  bool any() const { return nodes > 0 || tasks > 0; }
};

// Precondition: stays_blocked(), and the demand does not fit on these nodes.
Shortfall shortfall_of(const Demand& demand, const Bitset& among, const ClusterIndex& index);

// Number of tasks that the node could take now, ignoring that untyped GPUs must have one type on
// all nodes of a job.
std::int64_t tasks_now(const Demand& demand, NodeIndex node, const ClusterIndex& index);

}  // namespace ares::core::sched
