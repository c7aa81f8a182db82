// Selects GPUs and the CPUs nearest to them in one call, for the scheduler.
// Pure functions on an immutable machine; any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bitset.h"
#include "core/topology/choose.h"
#include "model/cluster/resources.h"

namespace ares::core::topology {

struct Placement {
  std::vector<GpuIndex> gpus;       // ascending
  std::vector<std::uint32_t> cpus;  // ascending; fewer than requested if fewer are free
  GpuChoice choice;                 // properties of the chosen set
};

// Both free sets are by number. The caller leaves GPUs of unwanted types out of `free_gpus`.
tl::expected<Placement, Refusal> place(const MachineTopology& machine, GpuSet free_gpus,
                                       const GpuRequest& request, const Bitset& free_cpus,
                                       std::size_t cpus);

// For a node that only lists its GPUs: those with the same nearest CPUs are linked by NODE, others
// by SYS. GPUs with numbers from kMaxGpus on are omitted.
Matrix matrix_of(const std::vector<Gpu>& gpus);

}  // namespace ares::core::topology
