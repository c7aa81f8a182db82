// A machine's GPUs, and what placement needs to know about their links.
// Built once from a matrix and immutable: any number of threads may place on it at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/topology/constraint.h"
#include "core/topology/gpu_set.h"
#include "core/topology/link.h"
#include "core/topology/matrix/matrix.h"
#include "core/topology/pcie_tree.h"

namespace ares::core::topology {

// GPUs connected by NVLinks, directly or through each other.
struct NvlinkDomain {
  GpuSet gpus;
  // NVLinks between any two of them, if equal for all pairs (switch, bridge, full mesh): then links
  // do not depend on which GPUs are taken. none = it differs, as in the hybrid mesh of DGX-1.
  std::optional<unsigned> even;
  // Its GPUs by NUMA node. Empty if not transitive: 0 is with 1, 1 with 2, but 0 not with 2.
  std::vector<GpuSet> by_numa;
};

class MachineTopology {
 public:
  explicit MachineTopology(Matrix matrix);

  const Matrix& matrix() const { return matrix_; }
  const PcieTree& tree() const { return tree_; }
  GpuSet gpus() const { return gpus_; }

  // Link of two different GPUs of this machine, by number.
  Link link(unsigned a, unsigned b) const { return *matrix_.link(position_[a], position_[b]); }
  Path path(unsigned a, unsigned b) const;  // over PCIe; from the tree if NVLinks hide it
  bool same_numa(unsigned a, unsigned b) const;

  const MatrixGpu& gpu(unsigned number) const { return matrix_.gpus[position_[number]]; }

  // Ordered by their lowest GPUs. GPUs without NVLinks are in no domain.
  const std::vector<NvlinkDomain>& nvlink_domains() const { return domains_; }
  // GPUs near the same NUMA nodes, ordered by their lowest GPUs; each GPU is in exactly one set.
  const std::vector<GpuSet>& numa_domains() const { return numa_domains_; }

  // Weight of a pair for placement: bandwidth in GB/s * kWeightScale, plus 1 within a NUMA node.
  // There are fewer pairs than kWeightScale, so NUMA nodes only decide between equal bandwidths.
  static constexpr std::int64_t kWeightScale = 2048;
  std::int64_t weight(unsigned a, unsigned b) const { return weights_[a * kMaxGpus + b]; }
  // Distinct bandwidths of pairs, highest first; for each GPU its partners with at least that one.
  struct Level {
    Bandwidth bandwidth;
    std::vector<GpuSet> partners;  // by GPU number
  };
  const std::vector<Level>& levels() const { return levels_; }
  // The GPUs that may be in one set with this one under `shape`, including itself. For nvswitch the
  // pairs of a set must also have equally many NVLinks.
  GpuSet compatible_gpus(Shape shape, unsigned gpu) const {
    return compatible_[static_cast<std::size_t>(shape)][gpu];
  }
  // GPUs that can replace this one, with the same links to all third GPUs. Placement tries one.
  GpuSet interchangeable_gpus(unsigned gpu) const { return interchangeable_[gpu]; }

 private:
  std::vector<GpuSet> numa_parts(GpuSet gpus) const;
  void find_domains();
  void weigh();
  void find_levels();
  void find_compatible();
  void find_interchangeable();
  bool are_interchangeable(unsigned a, unsigned b) const;

  Matrix matrix_;
  PcieTree tree_;
  GpuSet gpus_;
  std::vector<std::size_t> position_;  // position in the matrix, by GPU number
  std::vector<NvlinkDomain> domains_;
  std::vector<GpuSet> numa_domains_;
  std::vector<std::int64_t> weights_;
  std::vector<Level> levels_;
  std::array<std::vector<GpuSet>, 5> compatible_;
  std::vector<GpuSet> interchangeable_;
};

}  // namespace ares::core::topology
