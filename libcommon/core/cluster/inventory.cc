#include "core/cluster/inventory.h"

#include <algorithm>

namespace ares::core {
namespace {

const Gpu* gpu_at(const Inventory& inventory, GpuIndex index) {
  for (const Gpu& gpu : inventory.gpus) {
    if (gpu.index == index) return &gpu;
  }
  return nullptr;
}

}  // namespace

Inventory in_force(const Inventory& configured, const Inventory& found) {
  Inventory out = found;
  if (configured.cpus != 0) {
    out.cpus = std::min(configured.cpus, found.cpus);
    if (found.cpu_thousandths > 0)
      out.cpu_thousandths = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(cpu_thousandths_of(configured), found.cpu_thousandths));
  }
  if (configured.memory.value() != 0) out.memory = std::min(configured.memory, found.memory);
  if (configured.tmp_disk)
    out.tmp_disk = std::min(*configured.tmp_disk, found.tmp_disk.value_or(*configured.tmp_disk));
  if (!configured.gpus.empty()) {
    std::erase_if(out.gpus, [&](const Gpu& gpu) {
      const Gpu* wanted = gpu_at(configured, gpu.index);
      return !wanted || wanted->type != gpu.type;
    });
  }
  out.restricted_cores_per_gpu = configured.restricted_cores_per_gpu;
  out.features = configured.features;
  for (const std::string& feature : found.features) {
    if (std::find(out.features.begin(), out.features.end(), feature) == out.features.end()) {
      out.features.push_back(feature);
    }
  }
  return out;
}

std::optional<Inventory> if_cut(Inventory reported, const Inventory& in_force) {
  if (reported.cpus == in_force.cpus && reported.cpu_thousandths == in_force.cpu_thousandths &&
      reported.memory == in_force.memory && reported.gpus == in_force.gpus &&
      reported.tmp_disk == in_force.tmp_disk)
    return std::nullopt;
  reported.gpu_topology = {};
  reported.cpu_layout = {};
  return reported;
}

void configure(Node& node, const Inventory& configured) {
  node.configured = configured;
  if (node.contact == Contact::never) {
    node.inventory = configured;
    return;
  }
  const Inventory reported = node.reported.value_or(node.inventory);
  Inventory next = in_force(configured, reported);
  next.gpu_topology = node.inventory.gpu_topology;
  next.cpu_layout = node.inventory.cpu_layout;
  next.gpus = reported.gpus;
  std::erase_if(next.gpus, [&](const Gpu& gpu) {
    const Gpu* wanted = gpu_at(configured, gpu.index);
    const bool as_configured = configured.gpus.empty() || (wanted && wanted->type == gpu.type);
    return !as_configured && !gpu_at(node.inventory, gpu.index);
  });
  node.reported = if_cut(reported, next);
  node.inventory = std::move(next);
}

std::string shortfall(const Inventory& configured, const Inventory& found) {
  const auto low = [](std::string_view what, auto has, auto wants) {
    return std::string(kShortfall) + std::string(what) + " (" + std::to_string(has) + " < " +
           std::to_string(wants) + ")";
  };
  if (found.cpus < configured.cpus) return low("CPUs", found.cpus, configured.cpus);
  if (found.memory < configured.memory) {
    return low("RealMemory", found.memory.value() >> 20, configured.memory.value() >> 20);
  }
  const std::size_t gpus = in_force(configured, found).gpus.size();
  if (gpus < configured.gpus.size()) return low("gres/gpu count", gpus, configured.gpus.size());
  return {};
}

}  // namespace ares::core
