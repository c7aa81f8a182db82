// The PCIe and NUMA tree of a machine: switches within host bridges within NUMA nodes.
// Made once of a matrix and never changed; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/topology/gpu_set.h"
#include "core/topology/link.h"
#include "core/topology/matrix/matrix.h"

namespace ares::core::topology {

struct PcieNode {
  Path level = Path::sys;             // how what is below it reaches each other
  std::optional<std::size_t> parent;  // none = the root
  std::vector<std::size_t> children;  // nodes, in the order of their lowest GPU
  GpuSet leaves;                      // GPUs directly below it
  GpuSet gpus;                        // all GPUs below it
  std::vector<std::size_t> nics;      // of the matrix, directly below it
};

class PcieTree {
 public:
  // Devices belong together at a level if a chain of links of that level or nearer joins them. Where NVLinks hide how two GPUs reach
  // each other over PCIe, a NIC or a third GPU that is near to both tells it; if none does, the same processors or NUMA nodes
  // mean NODE, else SYS.
  explicit PcieTree(const Matrix& matrix);

  // Parents stand behind their children; the root is the last.
  const std::vector<PcieNode>& nodes() const { return nodes_; }
  std::size_t root() const { return nodes_.size() - 1; }
  // The node that GPU hangs from. Precondition: the matrix has it.
  std::size_t above(unsigned gpu) const { return above_[gpu]; }

  // The level of the lowest node above both.
  Path path(unsigned a, unsigned b) const;

 private:
  std::vector<PcieNode> nodes_;
  std::vector<std::size_t> above_;  // by GPU number
};

// Whether two GPUs of the matrix, by position, have the same NUMA nodes near; by their processors where no NUMA nodes are told.
// Nothing where neither is.
std::optional<bool> share_numa(const MatrixGpu& a, const MatrixGpu& b);

}  // namespace ares::core::topology
