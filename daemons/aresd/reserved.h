// What a node sets aside for the system (reserved_cpus, reserved_memory).
// Pure functions; any thread.
#pragma once

#include <cstdint>

#include "base/interval_set.h"
#include "model/cluster/cpu_layout.h"

namespace ares::aresd {

// The layout of the CPUs that jobs can get, by which the controller learns their numbers. `cpus`:
// how many the node offers. If the layout of the machine does not have so many, each CPU counts as
// a core.
CpuLayout without_reserved(const CpuLayout& machine, const IntervalSet& reserved,
                           std::uint32_t cpus);

}  // namespace ares::aresd
