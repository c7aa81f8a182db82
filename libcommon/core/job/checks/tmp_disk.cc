#include "core/job/checks/tmp_disk.h"

#include <algorithm>

namespace ares::core {

std::string uncounted_tmp_disk(const ClusterState& state, const JobSpec& spec) {
  if (spec.tmp_disk <= Bytes{}) return {};
  const auto counts = [&](const std::string& name) {
    const NodeId* id = state.node_ids.find(name);
    const Node* node = id ? state.nodes.find(*id) : nullptr;
    return node && node->inventory.tmp_disk;
  };
  std::string names;
  for (const std::string& name : spec.partitions) {
    const Partition* partition = state.partitions.find(name);
    if (!partition) continue;
    if (std::any_of(partition->nodes.begin(), partition->nodes.end(), counts)) return {};
    names += (names.empty() ? "" : ",") + name;
  }
  return "--tmp has no effect: no node of partition " + names +
         " says how much temporary storage it has";
}

}  // namespace ares::core
