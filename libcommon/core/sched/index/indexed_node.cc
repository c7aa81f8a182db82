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

std::int64_t unrestricted_free(const IndexedNode& node, std::int64_t total, const Bitset& used,
                               std::int64_t charged, std::int64_t cpu_unit) {
  const std::int64_t free = std::max<std::int64_t>(node.total[kCpus] - charged, 0);
  if (!node.restricted) return free;
  if (charged != static_cast<std::int64_t>(used.count()) * cpu_unit) return 0;
  Bitset others = node.restricted->others;
  others.andnot(used);
  return std::min({static_cast<std::int64_t>(others.count()) * cpu_unit, total, free});
}

std::int64_t unrestricted_of(const IndexedNode& node, std::int64_t cpus,
                             std::span<const std::uint32_t> ids, std::int64_t cpu_unit) {
  if (!node.restricted) return cpus;
  const Bitset& others = node.restricted->others;
  return cpu_unit * std::count_if(ids.begin(), ids.end(), [&](std::uint32_t cpu) {
           return cpu < others.size() && others.test(cpu);
         });
}

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
