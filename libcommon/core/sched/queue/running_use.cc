#include "core/sched/queue/running_use.h"

#include <algorithm>

#include "model/job/gpu_part.h"

namespace ares::core::sched {

Amounts capacity_of(const ClusterIndex& index) {
  Amounts sum(index.gpu_end());
  for (const IndexedNode& node : index.nodes())
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += node.total[i];
  for (std::size_t i = kFirstGpu; i < sum.size(); ++i) sum[i] *= kWholeGpu;
  return sum;
}

const Amounts* RunningUse::of(UserId user) const {
  const auto found = by_user_.find(user);
  return found == by_user_.end() ? nullptr : &found->second;
}

void RunningUse::count(const Node& node, const ClusterIndex& index, int sign) {
  for (const Charge& charge : node.charges) {
    if (!charge.user) continue;
    Amounts& amounts = by_user_[*charge.user];
    amounts.resize(index.gpu_end());
    amounts[kCpus] += sign * index.cpus_of(charge);
    amounts[kMemory] += sign * charge.memory.value();
    for (const GpuIndex gpu : charge.gpus) {
      const auto& gpus = node.inventory.gpus;
      const auto found =
          std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& has) { return has.index == gpu; });
      const auto column = found == gpus.end() ? std::nullopt : index.gpu_column(found->type);
      if (column) amounts[*column] += sign * std::int64_t{held_of_each(charge.gpu_part)};
    }
  }
}

}  // namespace ares::core::sched
