// The resources of this machine (CPUs, memory and GPUs) for all that the configuration does not
// specify. Pure except for machine_inventory(); any thread.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "model/cluster/resources.h"

namespace ares::aresd {

// CPUs in the affinity mask of the calling process, and MemTotal of /proc/meminfo.
Inventory machine_inventory();

// The inventory that the node registers: values of the configuration where given, else the machine's.
// Returns invalid_argument with file, line and column for a GPU topology that cannot be parsed.
Result<Inventory> node_inventory(const config::ConfiguredNode& configured,
                                 const Inventory& machine);

}  // namespace ares::aresd
