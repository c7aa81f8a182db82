// choose_devices(): which CPUs and GPUs of a node a share gets. The one place a later issue
// replaces by topology. Works on the pass's own index, which remembers what the pass gave away; not
// thread-safe.
#pragma once

#include "core/sched/cluster_index.h"
#include "core/sched/fit.h"
#include "model/job.h"

namespace ares::core::sched {

// The lowest free ids. `node` is marked: the devices are used and the amounts are no longer free.
// CPU ids are left out (any will do) where charges without ids make it unknown which are free.
NodeShare choose_devices(IndexedNode& node, const PlacedShare& share, const ClusterIndex& index);

}  // namespace ares::core::sched
