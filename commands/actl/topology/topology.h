// `topology`: shows a machine's topology from the output of `nvidia-smi topo -m`, and which GPUs a
// request would get on it. Does not contact the controller. Pure functions except for the command
// itself; any thread.
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

// Options of the command.
struct TopologyOptions {
  std::optional<std::uint32_t> allocate;  // Thousandths of a GPU.
  std::optional<core::topology::GpuSet> busy;
  std::optional<core::topology::Shape> shape;
  std::optional<unsigned> min_nvlinks;
  std::optional<unsigned> cpus;
  bool gaia = false;
};

// The command's rows for actl's option table.
std::vector<cli::Option> topology_rows(TopologyOptions& options);
// Texts for the manual page.
std::vector<std::string> topology_texts();

// The result of either placement policy.
struct Allocation {
  core::topology::GpuSet free;
  core::topology::GpuSet gpus;
  std::uint32_t thousandths = 0;
  std::optional<core::topology::GpuChoice> best;   // Result of the policy "best".
  std::optional<core::topology::GaiaChoice> gaia;  // Result of the policy "gaia".
  std::vector<std::uint32_t> cpus;                 // Empty if no CPUs were requested.
};

// Returns nothing if no allocation was requested. Error messages name the request that would work.
Result<std::optional<Allocation>> allocate(const core::topology::MachineTopology& machine,
                                           const TopologyOptions& options);

// The topology as text: links, NVLink and NUMA domains, and the PCIe tree.
std::string topology_text(const core::topology::MachineTopology& machine);
std::string allocation_text(const core::topology::MachineTopology& machine,
                            const Allocation& allocation);
// One JSON object with the topology; `allocation` may be absent.
std::string topology_json(const core::topology::MachineTopology& machine,
                          const std::optional<Allocation>& allocation);

}  // namespace ares::actl
