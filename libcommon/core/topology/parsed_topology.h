// GPU topology of a node: from the administrator's file to the form that the controller stores.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/topology/machine.h"
#include "model/cluster/resources.h"

namespace ares::core::topology {

struct ParsedTopology {
  std::vector<Gpu> gpus;  // ascending index, with their nearest CPUs
  GpuTopology topology;   // the matrix in its shortest text form
};

// Reads the output of `nvidia-smi topo -m` for GPUs of `type`, "gpu" if empty. invalid_argument,
// "line L, column C: ...", as parse_matrix(), and for text longer than kMaxGpuTopology.
Result<ParsedTopology> read_topology(std::string_view text, const std::string& type);

// Whether the controller can use what a node reported. Errors as above.
Status check_gpu_topology(const GpuTopology& topology);

// Summary in one line: "8 GPUs; NVLink 0-7 (12 each); NUMA 0-3 4-7; PCIe switches 0-1 2-3; 4 NICs".
std::string summary(const MachineTopology& machine);
std::string summary(const GpuTopology& topology);  // empty for an empty topology

}  // namespace ares::core::topology
