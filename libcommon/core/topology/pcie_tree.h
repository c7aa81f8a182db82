// The PCIe and NUMA tree of a machine: PCIe switches in host bridges in NUMA nodes.
// Built once from a matrix and immutable; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/topology/gpu_set.h"
#include "core/topology/link.h"
#include "core/topology/matrix/matrix.h"

namespace ares::core::topology {

struct PcieNode {
  Path level = Path::sys;             // path between devices in different children
  std::optional<std::size_t> parent;  // none = the root
  std::vector<std::size_t> children;  // nodes, ordered by their lowest GPU
  GpuSet leaves;                      // GPUs directly below it
  GpuSet gpus;                        // all GPUs below it
  std::vector<std::size_t> nics;      // positions in Matrix::nics, directly below it
};

class PcieTree {
 public:
  // Devices form a group at a level if they are connected by links of that level or nearer. Where
  // NVLinks hide the PCIe path of two GPUs, it follows from a NIC or third GPU near both of them;
  // else it is NODE if they have the same CPUs or NUMA nodes, otherwise SYS.
  explicit PcieTree(const Matrix& matrix);

  // Children come before their parents; the root is the last.
  const std::vector<PcieNode>& nodes() const { return nodes_; }
  std::size_t root() const { return nodes_.size() - 1; }
  // The node directly above the GPU. Precondition: the matrix has it.
  std::size_t above(unsigned gpu) const { return above_[gpu]; }

  // The level of the lowest node above both.
  Path path(unsigned a, unsigned b) const;

 private:
  std::vector<PcieNode> nodes_;
  std::vector<std::size_t> above_;  // by GPU number
};

// Whether two GPUs are near the same NUMA nodes; compares their CPUs if NUMA nodes are unknown.
// None if neither is known.
std::optional<bool> share_numa(const MatrixGpu& a, const MatrixGpu& b);

}  // namespace ares::core::topology
