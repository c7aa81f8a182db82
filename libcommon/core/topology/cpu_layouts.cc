#include "core/topology/cpu_layouts.h"

#include <utility>

namespace ares::core::topology {

const CpuLayout* CpuLayouts::of(const SharedText& told) {
  if (told.empty()) return nullptr;
  const auto known = layouts_.find(told.text());
  if (known != layouts_.end()) return known->second.get();
  Result<CpuLayout> layout = parse_cpu_layout(told.text());
  auto read = layout ? std::make_unique<const CpuLayout>(*std::move(layout)) : nullptr;
  const CpuLayout* made = layouts_.emplace(told.text(), std::move(read)).first->second.get();
  const IntervalSet cpus = made ? made->cpus() : IntervalSet();
  if (cpus.empty() || cpus.count() == cpus.back() + std::uint64_t{1}) return made;
  Bitset numbers(cpus.back() + std::size_t{1});
  for (const std::uint32_t cpu : cpus) numbers.set(cpu);
  numbers_.emplace(made, std::move(numbers));
  return made;
}

const Bitset* CpuLayouts::numbers_of(const CpuLayout* layout) const {
  const auto found = numbers_.find(layout);
  return found == numbers_.end() ? nullptr : &found->second;
}

}  // namespace ares::core::topology
