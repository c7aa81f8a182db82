#include "aresd/reserved.h"

#include <vector>

namespace ares::aresd {

CpuLayout without_reserved(const CpuLayout& machine, const IntervalSet& reserved,
                           std::uint32_t cpus) {
  if (reserved.empty()) return machine;
  std::vector<CpuLayout::Core> cores;
  std::uint64_t left = 0;
  for (CpuLayout::Core core : machine.cores()) {
    std::erase_if(core.cpus, [&](std::uint32_t cpu) { return reserved.contains(cpu); });
    left += core.cpus.size();
    if (!core.cpus.empty()) cores.push_back(std::move(core));
  }
  if (left >= cpus) return CpuLayout(std::move(cores));
  cores.clear();
  for (std::uint32_t cpu = 0; cores.size() < cpus; ++cpu)
    if (!reserved.contains(cpu)) cores.push_back({{cpu}, 0, 0});
  return CpuLayout(std::move(cores));
}

}  // namespace ares::aresd
