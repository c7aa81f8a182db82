// explain: why jobs of a shape wait, with numbers, for `aqueue` and `actl show job`.
// Pure; called once for each blocked shape of a pass.
#pragma once

#include <string>

#include "core/sched/cluster_index.h"
#include "model/plan.h"

namespace ares::core::sched {

struct Shape;

// "needs 4 a100 on one node: 12 nodes have too few free GPUs, 3 drained".
std::string explain_blocked(const Shape& shape, const ClusterIndex& index);

// "free nodes are reserved before it could end: 3 in maint1, 1 in demo".
std::string explain_reserved(const Shape& shape, const ClusterIndex& index);

// `if_up`: it would fit if every node of the partition were up.
PendingInfo explain_impossible(const Shape& shape, const ClusterIndex& index, bool if_up);

}  // namespace ares::core::sched
