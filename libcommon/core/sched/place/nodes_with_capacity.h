// able(): the nodes that may have room for a part of a demand at this moment; and what that says of later passes. Pure; called
// for every search.
#pragma once

#include <cstdint>

#include "base/bitset.h"
#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"

namespace ares::core::sched {

// Of `among`, without those that certainly have too little free for any part of the demand. Others may have too little, too:
// task_capacity() decides.
Bitset nodes_with_capacity(const Demand& demand, const Bitset& among, const ClusterIndex& index);

// Whether a demand that does not fit cannot come to fit unless some node gets more free. Not so where the choice of nodes is a
// rule of thumb or depends on how they lie to each other.
bool stays_blocked(const Demand& demand);

// What a demand that does not fit is short of: nodes that can take a task, and tasks that can be taken. As long as either is above
// zero it does not fit; when neither is any more, nobody knows.
struct Shortfall {
  std::int64_t nodes = 0;
  std::int64_t tasks = 0;
  bool any() const { return nodes > 0 || tasks > 0; }
};

// Precondition: stays_blocked(), and it does not fit on these nodes.
Shortfall shortfall_of(const Demand& demand, const Bitset& among, const ClusterIndex& index);

// How many tasks the node could take now, were the untyped GPUs of the demand no matter of one type for all its nodes.
std::int64_t tasks_now(const Demand& demand, NodeIndex node, const ClusterIndex& index);

}  // namespace ares::core::sched
