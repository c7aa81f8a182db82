// GPUs of which jobs have parts. A shared GPU is one whole GPU that is taken until the last of its sharers is expected to end: who joins
// it takes it from that moment until his own end, which is usually nothing. So Amounts, profiles and promises count whole GPUs.
// Work on the pass's own index; not thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/placement.h"
#include "model/job/gpu_part.h"

namespace ares::core::sched {

// Writes what is left, in thousandths, of the device that a part would come to lie on, for each type of which a shared one has room and
// `may_join(device)`; 0 for the others. `free` of those columns is one more: that device will do for a whole one. Both of the stride.
template <class May>
void add_joinable(const Demand& demand, const IndexedNode& node, std::span<std::int64_t> free,
                  std::span<std::int64_t> left, May&& may_join) {
  for (const SharedGpu& shared : node.shared) {
    if (left[shared.column] > 0) continue;
    const SharedGpu* device = fullest_that_fits(node, shared.column, demand.gpu_part);
    if (!device || !may_join(*device)) continue;
    left[device->column] = kWholeGpu - device->used;
    ++free[device->column];
  }
}

// Whether there is anything to add for that demand.
inline bool may_join(const Demand& demand, const IndexedNode& node) {
  return demand.gpu_part > 0 && !node.shared.empty();
}

// What it finds free on the node, others' devices that it could join counted as free ones: the node's own row, or `row`.
std::span<const std::int64_t> free_to_join(const Demand& demand, const IndexedNode& node,
                                           Amounts& row);

// Names the device that each share has its part of: one that it joins, of which it then takes no whole GPU, else the best free one. To
// be called for a placement that starts now, before the devices of anything else are chosen.
template <class May>
void name_devices(const ClusterIndex& index, Placement& placement, May&& may_join);
void name_free_devices(const ClusterIndex& index, Placement& placement);

template <class May>
void name_devices(const ClusterIndex& index, Placement& placement, May&& may_join) {
  for (PlacedShare& share : placement) {
    if (!share.part) continue;
    const IndexedNode& node = index.nodes()[share.node];
    PlacedPart& part = *share.part;
    const SharedGpu* device = fullest_that_fits(node, part.column, part.thousandths);
    if (device && may_join(share.node, *device)) {
      part.gpu = device->gpu;
      part.joins = true;
      --share.amounts[part.column];
    } else {
      part.gpu = best_free_gpu(node, part.column, index);
    }
  }
}

}  // namespace ares::core::sched
