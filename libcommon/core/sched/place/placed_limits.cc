#include "core/sched/place/placed_limits.h"

#include "core/sched/index/cluster_index.h"
#include "model/job/whole_gpu.h"

namespace ares::core::sched {

const std::vector<LicenseRequest>& certain_licenses(const JobSpec& spec) {
  static const std::vector<LicenseRequest> kNone;
  return spec.any_license && spec.licenses.size() > 1 ? kNone : spec.licenses.get();
}

TresByNode placed_amounts(const Placement& placement, const std::vector<LicenseRequest>& licenses,
                          const ClusterIndex& index) {
  TresByNode allocated_tres;
  for (const PlacedShare& share : placement) {
    auto& amounts = allocated_tres.emplace_back();
    amounts["cpu"] = index.whole_cpus_of(share.amounts[kCpus]);
    amounts["mem"] = static_cast<std::uint64_t>(share.amounts[kMemory]) >> 20;
    amounts["node"] = 1;
    const auto type_of = [&](std::size_t column) {
      return "gres/gpu:" + index.gpu_types()[column - kFirstGpu];
    };
    if (share.part) {
      amounts["gres/gpu"] = amounts[type_of(share.part->column)] = share.part->thousandths;
      continue;
    }
    for (std::size_t i = kFirstGpu; i < index.gpu_end(); ++i) {
      const std::uint64_t units = static_cast<std::uint64_t>(share.amounts[i]) * kWholeGpu;
      if (units == 0) continue;
      amounts[type_of(i)] = units;
      amounts["gres/gpu"] += units;
    }
  }
  add_licenses(licenses, allocated_tres);
  return allocated_tres;
}

}  // namespace ares::core::sched
