#include "core/sched/devices.h"

#include <algorithm>

namespace ares::core::sched {
namespace {

std::vector<GpuIndex> take_gpus(IndexedNode& node, std::size_t column, const std::string& type,
                                std::int64_t count, std::vector<GpuIndex> taken) {
  for (const Gpu& gpu : node.node->inventory.gpus) {
    if (count == 0) break;
    if (gpu.type != type) continue;
    const auto used = std::lower_bound(node.gpus_used.begin(), node.gpus_used.end(), gpu.index);
    if (used != node.gpus_used.end() && *used == gpu.index) continue;
    node.gpus_used.insert(used, gpu.index);
    --node.free[column];
    taken.push_back(gpu.index);
    --count;
  }
  return taken;
}

std::vector<std::uint32_t> take_cpus(IndexedNode& node, std::int64_t count) {
  const std::int64_t unnamed =
      (node.total[kCpus] - node.free[kCpus]) - static_cast<std::int64_t>(node.cpus_used.count());
  node.free[kCpus] -= count;
  if (unnamed != 0) return {};
  std::vector<std::uint32_t> ids;
  for (std::size_t cpu = 0; cpu < node.cpus_used.size() && count > 0; ++cpu) {
    if (node.cpus_used.test(cpu)) continue;
    node.cpus_used.set(cpu);
    ids.push_back(static_cast<std::uint32_t>(cpu));
    --count;
  }
  return ids;
}

}  // namespace

NodeShare choose_devices(IndexedNode& node, const PlacedShare& share, const ClusterIndex& index) {
  NodeShare chosen;
  chosen.node = node.node->id;
  chosen.incarnation = node.node->incarnation;
  chosen.tasks = share.tasks;
  chosen.cpus = static_cast<std::uint32_t>(share.amounts[kCpus]);
  chosen.cpu_ids = take_cpus(node, share.amounts[kCpus]);
  chosen.memory = Bytes(share.amounts[kMemory]);
  node.free[kMemory] -= share.amounts[kMemory];
  for (std::size_t column = kFirstGpu; column < share.amounts.size(); ++column)
    chosen.gpus = take_gpus(node, column, index.gpu_types()[column - kFirstGpu],
                            share.amounts[column], std::move(chosen.gpus));
  std::sort(chosen.gpus.begin(), chosen.gpus.end());
  return chosen;
}

}  // namespace ares::core::sched
