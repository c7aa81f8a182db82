#include "core/sched/place/unrestricted_cpus.h"

#include <algorithm>
#include <numeric>

#include "model/job/gpu_part.h"

namespace ares::core::sched {
namespace {

std::int64_t gpus_in(std::span<const std::int64_t> amounts, std::size_t gpu_end) {
  const auto gpus = amounts.subspan(kFirstGpu, gpu_end - kFirstGpu);
  return std::accumulate(gpus.begin(), gpus.end(), std::int64_t{0});
}

}  // namespace

void count_unrestricted(const Demand& demand, std::span<const std::int64_t> free,
                        std::span<const std::int64_t> total, PlacedShare& share) {
  if (!demand.unrestricted) return;
  const std::size_t column = *demand.unrestricted;
  const std::int64_t cpus = share.amounts[kCpus];
  std::int64_t kept = 0;
  if (!demand.only_unrestricted) {
    const std::int64_t has = total[kCpus] - total[column];
    const std::int64_t gpus = gpus_in(total, demand.gpu_end) * kWholeGpu;
    const std::int64_t own = share.part ? std::int64_t{share.part->thousandths}
                                        : gpus_in(share.amounts, demand.gpu_end) * kWholeGpu;
    // Only whole CPUs are kept.
    const std::int64_t each = gpus * demand.cpu_unit;
    const std::int64_t of_own = gpus > 0 ? (has * own + each - 1) / each * demand.cpu_unit : 0;
    const std::int64_t free_kept = std::max<std::int64_t>(free[kCpus] - free[column], 0);
    kept = std::min(std::max(std::min(of_own, free_kept), cpus - free[column]), cpus);
  }
  share.amounts[column] = cpus - kept;
}

void cap_restricted(const ClusterIndex& index, const IndexedNode& node,
                    std::span<std::int64_t> free) {
  const auto column = index.unrestricted_column();
  if (!column || !node.restricted) return;
  const std::int64_t kept = node.free[kCpus] - node.free[*column];
  free[kCpus] = std::min(free[kCpus], free[*column] + kept);
}

}  // namespace ares::core::sched
