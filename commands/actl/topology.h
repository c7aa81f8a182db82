// `topology`: what a machine's `nvidia-smi topo -m` says, and which GPUs a request would get there. Asks no controller.
// Pure functions but for the command itself; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/options.h"
#include "core/topology/choose.h"
#include "core/topology/gaia.h"
#include "core/topology/machine.h"

namespace ares::actl {

// Options that the command may set.
struct TopologyOptions {
  std::optional<std::uint32_t> allocate;  // thousandths of a GPU
  std::optional<core::topology::GpuSet> busy;
  std::optional<core::topology::Shape> shape;
  std::optional<unsigned> min_nvlinks;
  std::optional<unsigned> cpus;
  bool gaia = false;
};

// Their rows of actl's table.
std::vector<cli::Option> topology_rows(TopologyOptions& options);
// For the manual.
std::vector<std::string> topology_texts();

// What was chosen, by either policy.
struct Allocation {
  core::topology::GpuSet free;
  core::topology::GpuSet gpus;
  std::uint32_t thousandths = 0;
  std::optional<core::topology::GpuChoice> best;   // of the policy "best"
  std::optional<core::topology::GaiaChoice> gaia;  // of "gaia"
  std::vector<std::uint32_t> cpus;                 // empty where none were asked for
};

// Nothing where nothing is to be allocated. Errors say what to ask instead.
Result<std::optional<Allocation>> allocate(const core::topology::MachineTopology& machine,
                                           const TopologyOptions& options);

// The picture: links, NVLink and NUMA domains, the PCIe tree.
std::string topology_text(const core::topology::MachineTopology& machine);
std::string allocation_text(const core::topology::MachineTopology& machine,
                            const Allocation& allocation);
// One object with all of it; `allocation` may be none.
std::string topology_json(const core::topology::MachineTopology& machine,
                          const std::optional<Allocation>& allocation);

}  // namespace ares::actl
