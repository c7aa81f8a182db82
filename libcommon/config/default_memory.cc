#include "config/default_memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace ares::config {
namespace {

// Of a CPU of the node, in whole MiB; none: not known.
std::optional<Bytes> share_of_cpu(const Inventory& node) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  if (node.cpus == 0 || node.memory < Bytes(kMiB)) return std::nullopt;
  return Bytes(node.memory.value() / std::int64_t{node.cpus} / kMiB * kMiB);
}

}  // namespace

std::vector<Partition> partitions_with_memory(const Config& config) {
  std::map<std::string_view, Bytes> shares;
  for (const ConfiguredNode& node : config.nodes)
    if (const auto share = share_of_cpu(node.inventory)) shares.emplace(node.name, *share);
  std::vector<Partition> partitions = config.partitions;
  for (Partition& partition : partitions) {
    if (partition.default_memory_per_cpu > Bytes{}) continue;
    std::optional<Bytes> least;
    for (const std::string& name : partition.nodes)
      if (const auto found = shares.find(name); found != shares.end())
        least = least ? std::min(*least, found->second) : found->second;
    partition.default_memory_per_cpu = least.value_or(Bytes{});
  }
  return partitions;
}

}  // namespace ares::config
