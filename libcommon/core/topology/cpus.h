// The CPUs nearest to GPUs.
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bitset.h"
#include "base/interval_set.h"
#include "core/topology/gpu_set.h"
#include "core/topology/machine.h"
#include "model/cluster/cpu_layout.h"

namespace ares::core::topology {

// All CPUs near any of the GPUs by their CPU affinity. If that is empty (hidden by a container)
// those of other GPUs of its NUMA node are used; if these are empty too, the GPU adds no CPUs.
IntervalSet near_cpus(const MachineTopology& machine, GpuSet gpus);

// `count` CPUs of `free`, or all of them if there are fewer; ascending. Taken in this order:
//  1. near the GPUs: each GPU in turn takes its lowest near CPU, so that no GPU gets none;
//  2. near no GPU of the machine; 3. all others, kept for jobs on other GPUs as long as possible.
// Within 2 and 3 the lowest numbers come first. CPU numbers beyond the size of `free` are ignored.
//
// Where `layout` tells which CPUs are threads of one core, cores with all threads free are taken
// whole, as far as `count` goes, and then what is free of other cores: no job gets halves of two
// cores while one is free. In 1 GPUs with different near CPUs alternate; whole cores are not taken
// if they would leave nothing for one of them.
std::vector<std::uint32_t> choose_cpus(const MachineTopology& machine, GpuSet gpus,
                                       const Bitset& free, std::size_t count,
                                       const CpuLayout* layout = nullptr);

// The same for a job without GPUs, or a machine whose GPUs are not known.
std::vector<std::uint32_t> lowest_cpus(const Bitset& free, std::size_t count,
                                       const CpuLayout* layout);

}  // namespace ares::core::topology
