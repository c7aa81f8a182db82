#include "core/sched/index/indexed_node.h"

#include <algorithm>

#include "model/job/gpu_part.h"

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

const SharedGpu* fullest_that_fits(const IndexedNode& node, std::size_t column,
                                   std::uint32_t part) {
  const SharedGpu* best = nullptr;
  for (const SharedGpu& one : node.shared)
    if (one.column == column && one.used + part <= kWholeGpu && (!best || one.used > best->used))
      best = &one;
  return best;
}

}  // namespace ares::core::sched
