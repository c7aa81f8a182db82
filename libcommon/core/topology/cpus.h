// The processors nearest to GPUs.
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bitset.h"
#include "base/interval_set.h"
#include "core/topology/gpu_set.h"
#include "core/topology/machine.h"

namespace ares::core::topology {

// All that are near to any of the GPUs, as their affinity columns say. Where a GPU's column is empty (a container hides it), those of the
// other GPUs of its NUMA node stand for it; if they have none either, nothing is known.
IntervalSet near_cpus(const MachineTopology& machine, GpuSet gpus);

// `count` of the processors of `free`, or all of them if there are fewer; ascending. Taken in this order:
//  1. near to the GPUs, each GPU in turn taking the lowest that is near to it, so that none is left without;
//  2. near to no GPU of the machine; 3. any, so that what is near to other GPUs is left to their jobs as long as possible.
// Within 2 and 3 the lowest first. Numbers that `free` cannot hold are passed over.
std::vector<std::uint32_t> choose_cpus(const MachineTopology& machine, GpuSet gpus,
                                       const Bitset& free, std::size_t count);

}  // namespace ares::core::topology
