#include "core/accounts/requested.h"

#include <algorithm>

#include "base/saturating.h"
#include "model/job/requested.h"

namespace ares::core {
namespace {

constexpr std::string_view kGpu = "gres/gpu";

std::uint64_t memory(const JobSpec& spec, const Partition* partition) {
  Bytes amount = requested_memory(spec);
  if (amount.value() == 0 && partition)
    amount = capped_product(partition->default_memory_per_cpu, requested_cpus(spec));
  return static_cast<std::uint64_t>(std::max<std::int64_t>(amount.value(), 0)) >> 20;
}

}  // namespace

std::uint64_t requested(const JobSpec& spec, const Partition* partition, std::string_view tres) {
  if (tres == "cpu") return requested_cpus(spec);
  if (tres == "mem") return memory(spec, partition);
  if (tres == "node") return requested_nodes(spec);
  if (tres == kGpu) return requested_gpus(spec);
  if (tres.starts_with(kGpu) && tres.size() > kGpu.size() + 1 && tres[kGpu.size()] == ':')
    return requested_gpus(spec, tres.substr(kGpu.size() + 1));
  return 0;
}

}  // namespace ares::core
