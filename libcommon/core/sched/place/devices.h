// Choice of GPUs and CPUs of a node by number: how many free GPUs a job can have together, and
// which devices a share gets. Works on the pass's own index, in which the pass marks what it
// allocated; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/placement.h"
#include "model/job/job.h"

namespace ares::core::sched {

// Which GPUs of a node count: those that are free now, or all of them, as if the node were empty.
enum class GpusOf : std::uint8_t { free_now, node };

// Lowers the GPUs in a row of free amounts to those that the demand's constraint lets one job have
// together, so that any placement in the remaining amounts meets the constraint. A job that takes
// whole nodes gets all GPUs of a node: if they do not meet the constraint together, it gets none.
// Does nothing for a demand without constraint.
void cap_gpus(const Demand& demand, const IndexedNode& node, GpusOf which,
              const ClusterIndex& index, std::span<std::int64_t> free);

// The free device of the type on which a part of a GPU would be placed; none if all are used.
std::optional<GpuIndex> best_free_gpu(const IndexedNode& node, std::size_t column,
                                      const ClusterIndex& index);

// Chooses the devices of a share. A part of a GPU is on the device that its share names
// (shared_gpus.h), or on the best free one. Of each type the best free GPUs are taken
// (topology/choose.h), and the CPUs nearest to them (topology/cpus.h), as whole cores where the layout
// of the CPUs is known. Where the topology of the machine is not known, both are the lowest free
// numbers. Of CPUs that the node keeps for jobs with GPUs a share gets as many as its amounts say
// (unrestricted_cpus.h), those of its own GPUs first.
// Marks `node`: the devices become used and the amounts are no longer free. CPU ids are left out
// (any CPUs will do) if charges without ids make it unknown which CPUs are free.
// Precondition: the share was placed in the amounts that cap_gpus() leaves of the node's free
// amounts.
NodeShare choose_devices(IndexedNode& node, const PlacedShare& share,
                         const GpuConstraint& constraint, const ClusterIndex& index);

}  // namespace ares::core::sched
