#include "core/topology/gpu_set.h"

#include "base/interval_set.h"

namespace ares::core::topology {

// Unlike other lists it has no strides: "0,2,4" stays, only consecutive numbers become ranges.
std::string format_gpu_set(GpuSet set) {
  std::string text;
  while (!set.empty()) {
    const unsigned first = set.lowest();
    unsigned end = first;
    for (; end < kMaxGpus && set.contains(end); ++end) set.erase(end);
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (end - first > 1) text += "-" + std::to_string(end - 1);
  }
  return text;
}

Result<GpuSet> parse_gpu_set(std::string_view text) {
  const Result<IntervalSet> numbers = parse_interval_set(text, kMaxGpus - 1);
  if (!numbers) return fail(numbers.error());
  GpuSet set;
  for (const std::uint32_t gpu : *numbers) set.insert(gpu);
  return set;
}

}  // namespace ares::core::topology
