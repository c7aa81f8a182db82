// The NUMA nodes nearest to each GPU of a node. Pure; any thread.
#pragma once

#include <map>

#include "base/ids.h"
#include "base/interval_set.h"
#include "model/cluster/cpu_layout.h"
#include "model/cluster/resources.h"

namespace ares::aresd {

// As the node's topology matrix says, else those of the CPUs nearest to the GPU. A GPU of which
// neither is known has no entry.
std::map<GpuIndex, IntervalSet> gpu_numa_nodes(const Inventory& inventory, const CpuLayout& layout);

}  // namespace ares::aresd
