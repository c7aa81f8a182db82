// Which GPUs of a machine a request gets: the best set of k free ones.
// Pure functions on an immutable machine; any thread, any number at once.
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
  // Of the slowest pair; none for one GPU.
  std::optional<Bandwidth> bottleneck;
  Bandwidth total;     // over all pairs
  bool proven = true;  // false: the search gave up after kMaxSteps; never on a machine known today
  unsigned steps = 0;  // of the search
};

enum class Refusal : std::uint8_t {
  none_asked,     // a count of zero
  never,          // not on this machine, however idle
  too_few_free,   // fewer GPUs are free than asked for
  not_among_free  // enough are free, but none so that the constraint holds
};

// Of all sets of `request.count` GPUs of `free` that keep the constraint, the one with, in this order,
//  1. the fastest slowest pair: collective operations run at the pace of their slowest link;
//  2. the largest sum of its pairs' bandwidths, and among equals the most pairs within one NUMA node;
//  3. the largest such sum left among the GPUs that stay free: what is near to each other is kept for the next request;
//  4. the lowest numbers, compared as ascending lists.
// Where NVLinks join all free GPUs alike only NUMA nodes and numbers are left to decide, which takes no search as long as one node has
// enough.
// GPUs of `free` that the machine lacks are passed over. Found by branch and bound over sets in which GPUs that could stand for each
// other (MachineTopology::twins) are tried once; `proven` tells if it had to give up.
tl::expected<GpuChoice, Refusal> choose_gpus(const MachineTopology& machine, GpuSet free,
                                             const GpuRequest& request);

// For people: what was wrong and what to do. invalid_argument for what never fits, resource_exhausted for what does not fit now.
Error explain(Refusal refusal, const MachineTopology& machine, GpuSet free,
              const GpuRequest& request);

// Whether these GPUs keep the constraint. Precondition: the machine has them.
bool fulfils(const MachineTopology& machine, GpuSet gpus, const Constraint& constraint);

// The slowest and the sum of the pairs of a set.
std::optional<Bandwidth> bottleneck_of(const MachineTopology& machine, GpuSet gpus);
Bandwidth total_of(const MachineTopology& machine, GpuSet gpus);

}  // namespace ares::core::topology
