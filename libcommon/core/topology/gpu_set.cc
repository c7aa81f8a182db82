#include "core/topology/gpu_set.h"

#include "base/interval_set.h"

namespace ares::core::topology {

std::string format_gpu_set(GpuSet set) {
  IntervalSet numbers;
  for (const unsigned gpu : set) numbers.insert(gpu);
  return format_interval_set(numbers);
}

Result<GpuSet> parse_gpu_set(std::string_view text) {
  const Result<IntervalSet> numbers = parse_interval_set(text, kMaxGpus - 1);
  if (!numbers) return fail(numbers.error());
  GpuSet set;
  for (const std::uint32_t gpu : *numbers) set.insert(gpu);
  return set;
}

}  // namespace ares::core::topology
