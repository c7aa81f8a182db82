// What a node tells of its GPUs: from the file that an administrator names to what the controller keeps.
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
  std::vector<Gpu> gpus;  // ascending index, with the processors near to them
  GpuTopology topology;   // the matrix in its shortest form
};

// Reads what `nvidia-smi topo -m` printed; the GPUs are of `type`, or "gpu" where that is empty. invalid_argument, "line L, column C: ...",
// as parse_matrix(), and for what is longer than kMaxGpuTopology.
Result<ParsedTopology> read_topology(std::string_view text, const std::string& type);

// Whether the controller can do with what a node tells. invalid_argument as above.
Status check_gpu_topology(const GpuTopology& topology);

// What was understood, in one line: "8 GPUs; NVLink 0-7 (12 each); NUMA 0-3 4-7; PCIe switches 0-1 2-3; 4 NICs".
std::string summary(const MachineTopology& machine);
std::string summary(const GpuTopology& topology);  // empty where nothing is told

}  // namespace ares::core::topology
