#include "core/accounts/requested.h"

#include <algorithm>

#include "base/saturating.h"
#include "model/job/gpu_part.h"

namespace ares::core {
namespace {

constexpr std::string_view kGpu = "gres/gpu";

std::uint64_t cpus(const JobSpec& spec) {
  return std::max<std::uint64_t>(std::uint64_t{spec.tasks} * spec.cpus_per_task, spec.min_nodes);
}

std::uint64_t memory(const JobSpec& spec, const Partition* partition) {
  const auto mebibytes = [](Bytes amount) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(amount.value(), 0)) >> 20;
  };
  if (spec.memory_per_node) return mebibytes(capped_product(*spec.memory_per_node, spec.min_nodes));
  if (spec.memory_per_cpu) return mebibytes(capped_product(*spec.memory_per_cpu, cpus(spec)));
  return partition ? mebibytes(capped_product(partition->default_memory_per_cpu, cpus(spec))) : 0;
}

// Thousandths of GPUs of one type; of all types if it is empty.
std::uint64_t gpus(const JobSpec& spec, std::string_view type) {
  std::uint64_t sum = 0;
  const auto add = [&](const std::vector<GpuRequest>& requests, std::uint64_t times) {
    for (const GpuRequest& request : requests)
      if (type.empty() || request.type == type)
        sum = capped_sum(
            sum, capped_product(static_cast<std::uint64_t>(thousandths_of(request)), times));
  };
  add(spec.gpus_per_node, spec.min_nodes);
  add(spec.gpus_per_task, spec.tasks);
  add(spec.gpus_total, 1);
  return sum;
}

}  // namespace

std::uint64_t requested(const JobSpec& spec, const Partition* partition, std::string_view tres) {
  if (tres == "cpu") return cpus(spec);
  if (tres == "mem") return memory(spec, partition);
  if (tres == "node") return spec.min_nodes;
  if (tres == kGpu) return gpus(spec, {});
  if (tres.starts_with(kGpu) && tres.size() > kGpu.size() + 1 && tres[kGpu.size()] == ':')
    return gpus(spec, tres.substr(kGpu.size() + 1));
  return 0;
}

}  // namespace ares::core
