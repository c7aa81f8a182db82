// GPUs that jobs share. A shared GPU counts as one whole GPU that is used until its last sharer is
// expected to end. A job that joins can only extend that time, and usually does not. Amounts,
// profiles and planned starts therefore count whole GPUs.
// Works on the pass's own index; not thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/placement.h"
#include "model/job/gpu_part.h"

namespace ares::core::sched {

// For each type with a shared device that has capacity left and for which `may_join(device)` is
// true, writes to `left` the free thousandths of the device that a part would be placed on, and
// adds one to that column of `free`, because the device can serve as a whole one. `left` stays 0
// for other types. Both rows have the index's stride.
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

// Whether add_joinable() could add anything for the demand.
inline bool may_join(const Demand& demand, const IndexedNode& node) {
  return demand.gpu_part > 0 && !node.shared.empty();
}

// Free amounts of the node for the demand, where each shared device that it could join counts as a
// free one. Returns the node's own row, or `row`.
std::span<const std::int64_t> free_to_join(const Demand& demand, const IndexedNode& node,
                                           Amounts& row);

// Chooses the device of each share that is a part of a GPU: a shared one that it joins, so that it
// takes no whole GPU, or else the best free one. Must be called for a placement that starts now,
// before any other devices are chosen.
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
