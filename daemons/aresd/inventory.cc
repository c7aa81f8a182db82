#include "aresd/inventory.h"

#include <sched.h>
#include <unistd.h>

#include <sstream>

#include "core/topology/parsed_topology.h"
#include "os/file.h"

namespace ares::aresd {

Inventory machine_inventory() {
  Inventory inventory;
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  inventory.cpus =
      static_cast<std::uint32_t>(known ? CPU_COUNT(&set) : ::sysconf(_SC_NPROCESSORS_ONLN));
  if (Result<std::string> text = os::read_file("/proc/meminfo")) {
    std::istringstream words(*text);
    for (std::string key; words >> key;) {
      std::int64_t kib = 0;
      if (key == "MemTotal:" && words >> kib) inventory.memory = Bytes::kib(kib);
    }
  }
  return inventory;
}

Result<Inventory> node_inventory(const config::ConfiguredNode& configured, const Inventory& machine,
                                 const std::optional<gres::Offer>& found) {
  Inventory inventory = configured.inventory;
  const auto reserved = static_cast<std::uint32_t>(configured.reserved_cpus.count());
  if (inventory.cpus == 0) {
    if (reserved > 0 && reserved >= machine.cpus)
      return fail(ErrorCode::invalid_argument, "reserved_cpus leaves none of " +
                                                   std::to_string(machine.cpus) + " CPUs for jobs");
    inventory.cpus = machine.cpus - reserved;
  }
  if (inventory.memory.value() == 0) {
    if (configured.reserved_memory.value() > 0 && configured.reserved_memory >= machine.memory)
      return fail(ErrorCode::invalid_argument, "reserved_memory leaves nothing of " +
                                                   format_memory(machine.memory) + " for jobs");
    inventory.memory = machine.memory - configured.reserved_memory;
  }
  if (found) {
    inventory.gpus.clear();
    for (const gres::OfferedGpu& offered : found->gpus) inventory.gpus.push_back(offered.gpu);
    inventory.gpu_topology = found->topology;
  } else if (!configured.gpu_topology.empty()) {
    Result<std::string> text = os::read_file(configured.gpu_topology);
    if (!text) return fail(text.error());
    const std::string type = inventory.gpus.empty() ? "" : inventory.gpus.front().type;
    Result<core::topology::ParsedTopology> parsed = core::topology::read_topology(*text, type);
    if (!parsed)
      return fail(parsed.error().code, configured.gpu_topology + ": " + parsed.error().message);
    inventory.gpus = std::move(parsed->gpus);
    inventory.gpu_topology = std::move(parsed->topology);
  }
  return inventory;
}

}  // namespace ares::aresd
