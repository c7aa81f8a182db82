// choose_gpus() the slow way: every subset of the free GPUs is looked at, by the objective's own words.
#pragma once

#include <optional>
#include <vector>

#include "core/topology/choose.h"

namespace ares::core::topology {

class Reference {
 public:
  // Looks at all subsets once; the machine has at most 16 GPUs.
  explicit Reference(const MachineTopology& machine);

  // The best set of each size among `free`, by size; none where the constraint allows none.
  std::vector<std::optional<GpuSet>> best(GpuSet free, const Constraint& constraint) const;

 private:
  // Of each set of GPUs, by its bits.
  struct Facts {
    std::int64_t slowest = 0;  // GB/s; of a set without pairs more than any link's
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
