// choose_gpus() by brute force: evaluates the objective for every subset of the free GPUs.
#pragma once

#include <optional>
#include <vector>

#include "core/topology/choose.h"

namespace ares::core::topology {

class Reference {
 public:
  // Evaluates all subsets once; the machine has at most 16 GPUs.
  explicit Reference(const MachineTopology& machine);

  // The best set of each size among `free`, by size; none if the constraint allows none.
  std::vector<std::optional<GpuSet>> best(GpuSet free, const Constraint& constraint) const;

 private:
  // Of each set of GPUs, indexed by its bits.
  struct Facts {
    std::int64_t slowest = 0;  // GB/s; for a set without pairs larger than that of any link
    std::int64_t total = 0;
    std::int64_t numa_pairs = 0;
    unsigned fewest_nvlinks = 0;
  };

  bool better(GpuSet a, GpuSet b, GpuSet free) const;
  bool allowed(GpuSet set, const Constraint& constraint) const;

  const MachineTopology& machine_;
  std::vector<Facts> facts_;
};

}  // namespace ares::core::topology
