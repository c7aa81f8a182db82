// Between lines of `nodes` in ares.yaml and the nodes that they describe. A line says what the
// machine has; the inventory of the node is what jobs can have of it.
#include <utility>

#include "config/tables.h"

namespace ares::config {

NodeEntry entry_of(const ConfiguredNode& node) {
  const auto reserved = static_cast<std::uint32_t>(node.reserved_cpus.count());
  const bool has_cpus = node.inventory.cpus > 0, has_memory = node.inventory.memory.value() > 0;
  return {{},
          has_cpus ? node.inventory.cpus + reserved : 0,
          has_memory ? node.inventory.memory + node.reserved_memory : Bytes(),
          {node.inventory.gpus, node.gpu_topology},
          node.inventory.features,
          node.gpu_devices,
          node.gpu_discovery,
          node.reserved_cpus,
          node.reserved_memory,
          node.inventory.restricted_cores_per_gpu,
          node.inventory.tmp_disk.value_or(Bytes())};
}

ConfiguredNode node_of(const NodeEntry& entry, const std::string& name) {
  const auto reserved = static_cast<std::uint32_t>(entry.reserved_cpus.count());
  Inventory inventory{entry.cpus > 0 ? entry.cpus - reserved : 0,
                      entry.memory.value() > 0 ? entry.memory - entry.reserved_memory : Bytes(),
                      entry.gpus.gpus, entry.features};
  inventory.restricted_cores_per_gpu = entry.restricted_cores_per_gpu;
  if (entry.tmp_disk.value() > 0) inventory.tmp_disk = entry.tmp_disk;
  return {name,
          std::move(inventory),
          entry.gpus.topology,
          entry.gpu_devices,
          entry.gpu_discovery,
          entry.reserved_cpus,
          entry.reserved_memory};
}

std::string wrong_reservation(const NodeEntry& entry) {
  if (entry.cpus > 0 && !entry.reserved_cpus.empty()) {
    if (entry.reserved_cpus.back() >= entry.cpus)
      return "reserved_cpus: the node has the CPUs 0 to " + std::to_string(entry.cpus - 1);
    if (entry.reserved_cpus.count() >= entry.cpus) return "reserved_cpus: leaves no CPU for jobs";
  }
  if (entry.memory.value() > 0 && entry.reserved_memory >= entry.memory)
    return "reserved_memory: leaves no memory for jobs";
  return {};
}

}  // namespace ares::config
