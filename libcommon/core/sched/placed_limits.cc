#include "core/sched/placed_limits.h"

#include "core/sched/demand.h"
#include "model/whole_gpu.h"

namespace ares::core::sched {

std::optional<OverLimit> over_limit_there(const ClusterState& state, Enforce enforce,
                                          const QueueEntry& entry, const Placement& placement,
                                          const ClusterIndex& index) {
  if (enforce < Enforce::limits || state.accounting.empty()) return std::nullopt;
  const Job& job = *entry.job;
  TresByNode gets;
  for (const PlacedShare& share : placement) {
    auto& amounts = gets.emplace_back();
    amounts["cpu"] = static_cast<std::uint64_t>(share.amounts[kCpus]);
    amounts["mem"] = static_cast<std::uint64_t>(share.amounts[kMemory]) >> 20;
    amounts["node"] = 1;
    const auto type_of = [&](std::size_t column) {
      return "gres/gpu:" + index.gpu_types()[column - kFirstGpu];
    };
    if (share.part) {
      amounts["gres/gpu"] = amounts[type_of(share.part->column)] = share.part->thousandths;
      continue;
    }
    for (std::size_t i = kFirstGpu; i < share.amounts.size(); ++i) {
      const std::uint64_t units = static_cast<std::uint64_t>(share.amounts[i]) * kWholeGpu;
      if (units == 0) continue;
      amounts[type_of(i)] = units;
      amounts["gres/gpu"] += units;
    }
  }
  return over_limit(state.accounting, enforce, *job.spec, *entry.partition,
                    time_limit_of(job, *entry.partition), &gets);
}

}  // namespace ares::core::sched
