// Selects the GPUs of a machine for a request: the best set of k free ones.
// Pure functions on an immutable machine; any number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <tl/expected.hpp>

#include "base/result.h"
#include "core/topology/constraint.h"
#include "core/topology/gpu_set.h"
#include "core/topology/machine.h"

namespace ares::core::topology {

struct GpuRequest {
  unsigned count = 1;
  Constraint constraint;
};

struct GpuChoice {
  GpuSet gpus;
  // Of the slowest pair; none for a single GPU.
  std::optional<Bandwidth> bottleneck;
  Bandwidth total;     // sum over all pairs
  bool proven = true;  // false: the search stopped at its step limit; not on known machines
  unsigned steps = 0;  // number of search steps
};

enum class Refusal : std::uint8_t {
  none_asked,     // a count of zero
  never,          // not possible on this machine, even if it is idle
  too_few_free,   // fewer GPUs are free than requested
  not_among_free  // enough GPUs are free, but no set of them fulfils the constraint
};

// The set of `request.count` GPUs of `free` that fulfils the constraint with, in this order:
//  1. the fastest slowest pair: collective operations run at the speed of their slowest link;
//  2. the largest sum of its pairs' bandwidths, then the most pairs within one NUMA node;
//  3. the largest such sum among the GPUs that stay free, for later requests;
//  4. the lowest GPU numbers, compared as ascending lists.
// If NVLinks join all free GPUs equally, only NUMA nodes and numbers decide. That needs no search
// if one node has enough.
// GPUs of `free` that the machine does not have are ignored. Branch and bound; it tries one of
// several MachineTopology::interchangeable_gpus(). `proven` tells whether the search was complete.
tl::expected<GpuChoice, Refusal> choose_gpus(const MachineTopology& machine, GpuSet free,
                                             const GpuRequest& request);

// Message for users. invalid_argument: can never fit; resource_exhausted: does not fit now.
Error explain(Refusal refusal, const MachineTopology& machine, GpuSet free,
              const GpuRequest& request);

// Whether the GPUs fulfil the constraint. Precondition: the machine has them.
bool fulfils(const MachineTopology& machine, GpuSet gpus, const Constraint& constraint);

// Bandwidth of the slowest pair, and sum over all pairs.
std::optional<Bandwidth> bottleneck_of(const MachineTopology& machine, GpuSet gpus);
Bandwidth total_of(const MachineTopology& machine, GpuSet gpus);

}  // namespace ares::core::topology
