#include "core/topology/cpu_layouts.h"

#include <utility>

namespace ares::core::topology {

const CpuLayout* CpuLayouts::of(const SharedText& told) {
  if (told.empty()) return nullptr;
  const auto known = layouts_.find(told.text());
  if (known != layouts_.end()) return known->second.get();
  Result<CpuLayout> layout = parse_cpu_layout(told.text());
  auto read = layout ? std::make_unique<const CpuLayout>(*std::move(layout)) : nullptr;
  return layouts_.emplace(told.text(), std::move(read)).first->second.get();
}

}  // namespace ares::core::topology
