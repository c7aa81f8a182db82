#include "core/sched/place/shared_gpus.h"

namespace ares::core::sched {
std::span<const std::int64_t> free_to_join(const Demand& demand, const IndexedNode& node,
                                           Amounts& row) {
  if (!may_join(demand, node)) return node.free;
  row = node.free;
  Amounts left(row.size(), 0);
  add_joinable(demand, node, row, left, [](const SharedGpu&) { return true; });
  return row;
}

void name_free_devices(const ClusterIndex& index, Placement& placement) {
  name_devices(index, placement, [](NodeIndex, const SharedGpu&) { return false; });
}

}  // namespace ares::core::sched
