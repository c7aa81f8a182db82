// The cores, packages and NUMA nodes of this machine, as hwloc finds them. HWLOC_XMLFILE and
// HWLOC_SYNTHETIC in the environment replace the machine, for tests. Any thread.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/cluster/cpu_layout.h"

namespace ares::os {

// CPUs that the cpuset of this process does not allow are left out. A CPU without a known core is a
// core of its own. The error says what hwloc could not do.
Result<CpuLayout> machine_layout();

// "HWLOC_SYNTHETIC=pack:2 core:4 pu:2" if the environment replaces the machine; else nothing.
std::optional<std::string> replaced_machine();

}  // namespace ares::os
