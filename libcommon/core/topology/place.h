// GPUs and the processors nearest to them in one call: what the scheduler asks of a node.
// Pure functions on an immutable machine; any thread, any number at once.
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
  std::vector<std::uint32_t> cpus;  // ascending; fewer than asked for where fewer are free
  GpuChoice choice;                 // why these
};

// `free_gpus` by their numbers, `free_cpus` by theirs. GPUs of a model that is not wanted are left out of `free_gpus` by the caller.
tl::expected<Placement, Refusal> place(const MachineTopology& machine, GpuSet free_gpus,
                                       const GpuRequest& request, const Bitset& free_cpus,
                                       std::size_t cpus);

// The machine of a node that only lists its GPUs: those with the same nearest processors are linked by NODE, others by SYS.
// GPUs with numbers from kMaxGpus on are left out.
Matrix matrix_of(const std::vector<Gpu>& gpus);

}  // namespace ares::core::topology
