#include "core/sched/place/shared_gpus.h"

#include <algorithm>

#include "core/sched/place/devices.h"

namespace ares::core::sched {
namespace {

auto place_of(std::vector<SharedGpu>& shared, GpuIndex gpu) {
  return std::lower_bound(shared.begin(), shared.end(), gpu,
                          [](const SharedGpu& one, GpuIndex other) { return one.gpu < other; });
}

}  // namespace

bool share_gpu(IndexedNode& node, GpuIndex gpu, std::size_t column, std::uint32_t part) {
  const auto place = place_of(node.shared, gpu);
  if (place != node.shared.end() && place->gpu == gpu) {
    place->used += part;
    return false;
  }
  node.shared.insert(place, {gpu, column, part});
  return true;
}

bool unshare_gpu(IndexedNode& node, GpuIndex gpu, std::uint32_t part) {
  const auto place = place_of(node.shared, gpu);
  if (place == node.shared.end() || place->gpu != gpu) return false;
  place->used -= std::min(part, place->used);
  if (place->used > 0) return false;
  node.shared.erase(place);
  return true;
}

const SharedGpu* fullest_with_room(const IndexedNode& node, std::size_t column,
                                   std::uint32_t part) {
  const SharedGpu* best = nullptr;
  for (const SharedGpu& one : node.shared)
    if (one.column == column && one.used + part <= kWholeGpu && (!best || one.used > best->used))
      best = &one;
  return best;
}

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
