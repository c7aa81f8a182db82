// Amounts: the total or free quantity of each resource of a node, as a row of numbers.
// Plain values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"

namespace ares::core::sched {

// Amounts of one node: CPUs, bytes of memory, then one entry for each GPU type of the cluster, up to
// ClusterIndex::gpu_end(). Behind those one for each partition that limits the CPUs of its jobs on a
// node: those CPUs that they may still have there. Then, if a node limits its attempts, how many more it
// takes, and if a node knows its temporary storage, whole MiB of it. Then, if a node keeps CPUs for jobs with GPUs, those CPUs that other
// jobs may have. At last, if a node counts thousandths of CPUs, 1 for each node that does so and 0 for others. All CPUs are in the unit
// ClusterIndex::cpu_unit().
using Amounts = std::vector<std::int64_t>;
inline constexpr std::size_t kCpus = 0;
inline constexpr std::size_t kMemory = 1;
inline constexpr std::size_t kFirstGpu = 2;

// Position in ClusterIndex::nodes(). Nodes are in the order of their ids, which is the order of the
// configuration.
using NodeIndex = std::uint32_t;

// The MiB that an amount needs.
constexpr std::int64_t whole_mebibytes(Bytes amount) {
  return (amount.value() >> 20) + ((amount.value() & ((1 << 20) - 1)) != 0 ? 1 : 0);
}

}  // namespace ares::core::sched
