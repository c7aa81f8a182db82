// The GPUs and CPUs of a node by their numbers: how many free GPUs a job can have together, and which ones a share gets. Works on the
// pass's own index, which remembers what the pass gave away; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/placement.h"
#include "model/job/job.h"

namespace ares::core::sched {

// Which GPUs of a node count: those that are free at this moment, or all, as if the node were empty.
enum class GpusOf : std::uint8_t { free_now, node };

// Lowers the GPUs in a row of free amounts to those that the demand's constraint lets one job have together: whatever is placed in
// what is left keeps the constraint. A job that takes whole nodes gets all GPUs of one, so the constraint holds for all or there are none
// for it. Does nothing to a demand without constraint.
void cap_gpus(const Demand& demand, const IndexedNode& node, GpusOf which,
              const ClusterIndex& index, std::span<std::int64_t> free);

// The free device of that type that a part would come to lie on; none where all are used.
std::optional<GpuIndex> best_free_gpu(const IndexedNode& node, std::size_t column,
                                      const ClusterIndex& index);

// A part is of the device that its share names (shared_gpus.h), or of the best free one.
// The GPUs of each type are the best of the free ones (topology/choose.h), the CPUs the nearest to them (topology/cpus.h); where nothing is
// known of the machine both have the lowest free numbers. `node` is marked: the devices are used and the amounts are no longer free.
// CPU ids are left out (any will do) where charges without ids make it unknown which are free.
// Precondition: the share was placed in what cap_gpus() leaves of the node's free amounts.
NodeShare choose_devices(IndexedNode& node, const PlacedShare& share,
                         const GpuConstraint& constraint, const ClusterIndex& index);

}  // namespace ares::core::sched
