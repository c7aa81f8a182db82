#include "core/job/checks/default_memory.h"

#include <algorithm>

namespace ares::core {

std::optional<Bytes> default_memory(const ClusterState& state, const JobSpec& spec,
                                    const std::vector<std::string>& partitions) {
  if (spec.memory_per_node || spec.memory_per_cpu || spec.memory_per_gpu) return std::nullopt;
  const auto of = [&](const std::string& name) {
    const Partition* partition = state.partitions.find(name);
    return partition ? partition->default_memory_per_cpu : Bytes{};
  };
  const Bytes memory = of(partitions.front());
  const bool same = std::all_of(partitions.begin(), partitions.end(),
                                [&](const std::string& name) { return of(name) == memory; });
  return same && memory > Bytes{} ? std::optional(memory) : std::nullopt;
}

}  // namespace ares::core
