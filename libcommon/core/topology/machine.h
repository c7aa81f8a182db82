// A machine's GPUs and all that placement asks about their links.
// Made once of a matrix and never changed: any number of threads may place on it at once.
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

// GPUs that NVLinks join to one whole.
struct NvlinkDomain {
  GpuSet gpus;
  // How many join any two of them, if that is the same for all: a switch, a bridge or a full mesh. There it does not matter for the
  // links which GPUs are taken. none = it differs, as in the hybrid mesh of DGX-1.
  std::optional<unsigned> even;
  // Its GPUs by NUMA node. Empty where nodes are not told clearly enough to part them: 0 is with 1, 1 with 2, but 0 not with 2.
  std::vector<GpuSet> by_numa;
};

class MachineTopology {
 public:
  explicit MachineTopology(Matrix matrix);

  const Matrix& matrix() const { return matrix_; }
  const PcieTree& tree() const { return tree_; }
  GpuSet gpus() const { return gpus_; }

  // Of two different GPUs of this machine, by their numbers.
  Link link(unsigned a, unsigned b) const { return *matrix_.link(position_[a], position_[b]); }
  Path path(unsigned a, unsigned b) const;  // over PCIe; found by the tree where NVLinks hide it
  bool same_numa(unsigned a, unsigned b) const;

  const MatrixGpu& gpu(unsigned number) const { return matrix_.gpus[position_[number]]; }

  // By their lowest GPUs. GPUs without NVLinks are in none.
  const std::vector<NvlinkDomain>& nvlink_domains() const { return domains_; }
  // GPUs nearest to the same NUMA nodes, by their lowest GPUs; every GPU is in one.
  const std::vector<GpuSet>& numa_domains() const { return numa_domains_; }

  // What placement works on. A pair's weight is its bandwidth in GB/s times kWeightScale, plus one within a NUMA node: there are fewer
  // pairs than kWeightScale, so that NUMA nodes decide between equal bandwidths only.
  static constexpr std::int64_t kWeightScale = 2048;
  std::int64_t weight(unsigned a, unsigned b) const { return weights_[a * kMaxGpus + b]; }
  // The bandwidths of pairs, highest first, and with which GPUs each has at least so much.
  struct Level {
    Bandwidth bandwidth;
    std::vector<GpuSet> partners;  // by GPU number
  };
  const std::vector<Level>& levels() const { return levels_; }
  // The GPUs that may be together with this one, itself among them.
  GpuSet compatible_gpus(Shape shape, unsigned gpu) const {
    return compatible_[static_cast<std::size_t>(shape)][gpu];
  }
  // Those that could take its place: linked to every third GPU as it is. Placement need not try both.
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
  std::vector<std::size_t> position_;  // in the matrix, by number
  std::vector<NvlinkDomain> domains_;
  std::vector<GpuSet> numa_domains_;
  std::vector<std::int64_t> weights_;
  std::vector<Level> levels_;
  std::array<std::vector<GpuSet>, 5> compatible_;
  std::vector<GpuSet> interchangeable_;
};

}  // namespace ares::core::topology
