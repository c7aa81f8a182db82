// The resources of this machine (CPUs, memory and GPUs) for all that the configuration does not
// specify, and how busy it is. Pure except for machine_inventory() and machine_load(); any thread.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "gres/found/offer.h"
#include "model/cluster/resources.h"
#include "model/engine/node_message.h"

namespace ares::aresd {

// CPUs in the affinity mask of the calling process, and MemTotal of /proc/meminfo.
Inventory machine_inventory();

// The load average of a minute in /proc/loadavg, and MemFree of /proc/meminfo, as Slurm takes them.
MachineLoad machine_load();

// The same of the texts of the two files. What they do not tell is not known.
MachineLoad parse_load(const std::string& loadavg, const std::string& meminfo);

// The inventory that the node registers: values of the configuration where given, else the machine's.
// GPUs are those of `found` if it has a value (aresd/gpus/discovery.h).
// Returns invalid_argument with file, line and column for a GPU topology that cannot be parsed.
Result<Inventory> node_inventory(const config::ConfiguredNode& configured, const Inventory& machine,
                                 const std::optional<gres::Offer>& found = {});

}  // namespace ares::aresd
