// What this machine has to offer: its processors, memory and GPUs, as far as the configuration does not say otherwise.
// Pure but for machine_inventory(); any thread.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "model/cluster/resources.h"

namespace ares::aresd {

// CPUs of the calling process's affinity and the memory of /proc/meminfo.
Inventory machine_inventory();

// What the node registers with: the configuration's word where it has one, else the machine's. invalid_argument with file, line and
// column for a topology of GPUs that cannot be read.
Result<Inventory> node_inventory(const config::ConfiguredNode& configured,
                                 const Inventory& machine);

}  // namespace ares::aresd
