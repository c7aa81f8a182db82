// What this machine has to offer: its processors, memory and GPUs, as far as the configuration does not say otherwise.
// Pure but for machine_inventory(); any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config.h"
#include "model/resources.h"

namespace ares::aresd {

// CPUs of the calling process's affinity and the memory of /proc/meminfo.
Inventory machine_inventory();

// GPUs of the text that `nvidia-smi topo -m` prints: one for each row GPU0, GPU1, … with its CPU affinity.
// invalid_argument when there is no such row or numbers do not ascend.
Result<std::vector<Gpu>> parse_gpu_topology(std::string_view text, const std::string& type);

// What the node registers with: the configuration's word where it has one, else the machine's.
Result<Inventory> node_inventory(const config::ConfiguredNode& configured,
                                 const Inventory& machine);

}  // namespace ares::aresd
