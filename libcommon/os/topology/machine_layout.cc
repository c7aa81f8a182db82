#include "os/topology/machine_layout.h"

#include <hwloc.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace ares::os {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { ::hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

Result<Topology> load() {
  hwloc_topology_t raw = nullptr;
  const auto refuse = [](const std::string& what) {
    return fail(ErrorCode::failed_precondition,
                "hwloc cannot " + what + ": " + std::strerror(errno));
  };
  if (::hwloc_topology_init(&raw) != 0) return refuse("start");
  Topology topology(raw);
  // Groups stay: without them NUMA nodes of a part of a package would be those of all CPUs. By default
  // hwloc looks for no devices.
  ::hwloc_topology_set_cache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  const std::optional<std::string> replaced = replaced_machine();
  const std::string what = replaced.value_or("the topology of this machine");
  if (::hwloc_topology_load(raw) != 0) return refuse("read " + what);
  // It takes the real machine if it does not understand the variable.
  if (replaced && !std::getenv("HWLOC_THISSYSTEM") && ::hwloc_topology_is_thissystem(raw) != 0)
    return fail(ErrorCode::failed_precondition, "hwloc cannot read " + what);
  return topology;
}

// Where several memories are equally near (HBM beside DRAM), the one with the lowest number is the
// node in which the kernel counts the CPU.
std::uint32_t numa_of(hwloc_obj_t cpu) {
  const int node = cpu->nodeset ? ::hwloc_bitmap_first(cpu->nodeset) : -1;
  return node < 0 ? 0 : static_cast<std::uint32_t>(node);
}

}  // namespace

Result<CpuLayout> machine_layout() {
  const Result<Topology> loaded = load();
  if (!loaded) return fail(loaded.error());
  const hwloc_topology_t topology = loaded->get();
  std::vector<CpuLayout::Core> cores;
  std::map<hwloc_obj_t, std::size_t> known;  // core -> position
  for (hwloc_obj_t cpu = nullptr;
       (cpu = ::hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, cpu)) != nullptr;) {
    if (cpu->os_index > kMaxCpuNumber) continue;
    const hwloc_obj_t core = ::hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, cpu);
    const auto [at, added] = known.try_emplace(core ? core : cpu, cores.size());
    if (added) {
      const hwloc_obj_t package =
          ::hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, cpu);
      cores.push_back({{}, package ? package->logical_index : 0, numa_of(cpu)});
    }
    cores[at->second].cpus.push_back(cpu->os_index);
  }
  if (cores.empty())
    return fail(ErrorCode::failed_precondition, "hwloc finds no CPU on this machine");
  return CpuLayout(std::move(cores));
}

std::optional<std::string> replaced_machine() {
  for (const char* name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC"})
    if (const char* value = std::getenv(name); value && *value != '\0')
      return std::string(name) + "=" + value;
  return std::nullopt;
}

}  // namespace ares::os
