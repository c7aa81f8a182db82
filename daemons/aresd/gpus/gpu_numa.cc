#include "aresd/gpus/gpu_numa.h"

#include "core/topology/matrix/matrix.h"

namespace ares::aresd {

std::map<GpuIndex, IntervalSet> gpu_numa_nodes(const Inventory& inventory,
                                               const CpuLayout& layout) {
  std::map<GpuIndex, IntervalSet> nodes;
  for (const Gpu& gpu : inventory.gpus) {
    IntervalSet cores;
    for (const std::uint32_t core : gpu.cores) cores.insert(core);
    if (IntervalSet near = layout.numa_nodes_of(cores); !near.empty())
      nodes[gpu.index] = std::move(near);
  }
  if (inventory.gpu_topology.empty()) return nodes;
  const Result<core::topology::Matrix> matrix =
      core::topology::parse_matrix(inventory.gpu_topology.text());
  if (!matrix) return nodes;
  for (const core::topology::MatrixGpu& gpu : matrix->gpus)
    if (!gpu.numa.empty()) nodes[GpuIndex(static_cast<GpuIndex::rep>(gpu.number))] = gpu.numa;
  return nodes;
}

}  // namespace ares::aresd
