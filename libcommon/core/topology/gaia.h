// Placement policy "gaia": Fragment, Singular and Link on the access-cost tree of a machine.
// After "Gaia Scheduler: A Kubernetes-Based Scheduler Framework" by Song et al., algorithms 1 to 4.
// The tree is the PCIe tree, without NVLinks, as in the paper. Pure; immutable machine; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "core/topology/gpu_set.h"
#include "core/topology/machine.h"
#include "model/job/whole_gpu.h"

namespace ares::core::topology {

using ares::kWholeGpu;

// Free thousandths of each GPU, by GPU number; 0 for GPUs that the machine does not have.
struct GpuShares {
  std::array<std::uint16_t, kMaxGpus> left{};

  static GpuShares whole(GpuSet gpus) {
    GpuShares shares;
    for (const unsigned gpu : gpus) shares.left[gpu] = kWholeGpu;
    return shares;
  }
  // Precondition: at least that much is left.
  void take(unsigned gpu, std::uint32_t thousandths) {
    left[gpu] = static_cast<std::uint16_t>(left[gpu] - thousandths);
  }
};

enum class GaiaRule : std::uint8_t { fragment, singular, link };

struct GaiaChoice {
  GpuSet gpus;
  GaiaRule rule = GaiaRule::link;
  std::uint64_t cost = 0;  // of the GPU for Fragment and Singular, of the subtree for Link
};

class Gaia {
 public:
  // The machine must outlive this.
  explicit Gaia(const MachineTopology& machine);

  // Cost of access between two GPUs. The paper only gives the order SOC > PXB > PHB > PIX: here 4,
  // 3, 2, 1. NODE, which the paper does not have, costs the same as SOC.
  static std::uint64_t cost(Path path);
  // A GPU's access cost: the sum of its costs to all other GPUs of the machine.
  std::uint64_t access_cost(unsigned gpu) const { return access_cost_[gpu]; }

  // `thousandths`: below 1000 a part of one GPU (Fragment), 1000 one (Singular), above whole GPUs
  // (Link), in multiples of 1000, else invalid_argument. resource_exhausted if nothing fits.
  // Ties: `seed` 0 takes the lowest numbers, other seeds other orders; the paper defines none.
  Result<GaiaChoice> choose(const GpuShares& shares, std::uint32_t thousandths,
                            std::uint64_t seed = 0) const;

 private:
  std::uint64_t left_below(const GpuShares& shares, std::size_t node) const;
  bool sibling_taken(const GpuShares& shares, unsigned gpu) const;
  GaiaChoice link(GpuSet whole, unsigned count, std::uint64_t seed) const;

  const MachineTopology* machine_;
  std::vector<std::uint64_t> access_cost_;  // by GPU number
};

}  // namespace ares::core::topology
