#include "aresd/inventory.h"

#include <sched.h>
#include <unistd.h>

#include <sstream>

#include "core/topology/parsed_topology.h"
#include "os/file.h"

namespace ares::aresd {
namespace {

// The amount of a line of /proc/meminfo, "MemFree:"; none if there is no such line.
std::optional<Bytes> amount_of(const std::string& line, const std::string& meminfo) {
  std::istringstream words(meminfo);
  for (std::string key; words >> key;) {
    std::int64_t kib = 0;
    if (key == line) return words >> kib ? std::optional(Bytes::kib(kib)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Inventory machine_inventory() {
  Inventory inventory;
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  inventory.cpus =
      static_cast<std::uint32_t>(known ? CPU_COUNT(&set) : ::sysconf(_SC_NPROCESSORS_ONLN));
  if (Result<std::string> text = os::read_file("/proc/meminfo"))
    inventory.memory = amount_of("MemTotal:", *text).value_or(Bytes());
  return inventory;
}

MachineLoad machine_load() {
  return parse_load(os::read_file("/proc/loadavg").value_or(""),
                    os::read_file("/proc/meminfo").value_or(""));
}

MachineLoad parse_load(const std::string& loadavg, const std::string& meminfo) {
  MachineLoad load{.cpu_load = {}, .free_memory = amount_of("MemFree:", meminfo)};
  std::istringstream words(loadavg);
  std::uint32_t whole = 0;
  char point = 0, tenths = 0, hundredths = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (words >> whole >> point >> tenths >> hundredths && point == '.' && digit(tenths) &&
      digit(hundredths))
    load.cpu_load = whole * 100 + static_cast<std::uint32_t>(tenths - '0') * 10 +
                    static_cast<std::uint32_t>(hundredths - '0');
  return load;
}

Result<Inventory> node_inventory(const config::ConfiguredNode& configured, const Inventory& machine,
                                 const std::optional<gres::Offer>& found) {
  Inventory inventory = configured.inventory;
  inventory.tmp_disk.reset();  // the controller has it from ares.yaml, which may change meanwhile
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
