#include "core/topology/restricted_cpus.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/topology/cpus.h"
#include "model/job/gpu_part.h"

namespace ares::core::topology {
namespace {

// The node's cores by their lowest CPUs, without CPUs that no job can get.
std::vector<std::vector<std::uint32_t>> cores_of(const CpuLayout* layout, const Bitset& cpus) {
  std::vector<std::vector<std::uint32_t>> cores;
  Bitset rest = cpus;
  if (layout)
    for (const CpuLayout::Core& core : layout->cores()) {
      std::vector<std::uint32_t> threads;
      for (const std::uint32_t cpu : core.cpus)
        if (cpu < cpus.size() && cpus.test(cpu)) threads.push_back(cpu);
      for (const std::uint32_t cpu : threads) rest.reset(cpu);
      if (!threads.empty()) cores.push_back(std::move(threads));
    }
  rest.for_each([&](std::size_t cpu) { cores.push_back({static_cast<std::uint32_t>(cpu)}); });
  std::sort(cores.begin(), cores.end());
  return cores;
}

// Empty: not known.
IntervalSet near_gpu(const Gpu& gpu, const Machines::Machine* machine) {
  const unsigned number = gpu.index.value();
  if (machine && number < kMaxGpus && machine->gpus().contains(number)) {
    GpuSet one;
    one.insert(number);
    if (IntervalSet near = near_cpus(*machine, one); !near.empty()) return near;
  }
  IntervalSet near;
  for (const std::uint32_t cpu : gpu.cores) near.insert(cpu);
  return near;
}

}  // namespace

std::shared_ptr<const RestrictedCpus> restricted_cpus(const Inventory& inventory,
                                                      Machines& machines, CpuLayouts& layouts) {
  if (!restricts_cpus(inventory)) return nullptr;
  const CpuLayout* layout = layouts.of(inventory.cpu_layout);
  const Machines::Machine* machine = machines.of(inventory.gpu_topology);
  const Bitset* numbers = layouts.numbers_of(layout);
  Bitset cpus(inventory.cpus, true);
  if (numbers && numbers->count() >= inventory.cpus) cpus = *numbers;

  RestrictedCpus out;
  out.all = Bitset(cpus.size());
  std::vector<std::vector<std::uint32_t>> cores = cores_of(layout, cpus);
  for (const Gpu& gpu : inventory.gpus) {
    const IntervalSet near = near_gpu(gpu, machine);
    Bitset own(cpus.size());
    std::uint32_t left = inventory.restricted_cores_per_gpu;
    for (std::vector<std::uint32_t>& core : cores) {
      if (left == 0) break;
      if (core.empty() ||
          (!near.empty() && std::none_of(core.begin(), core.end(),
                                         [&](std::uint32_t cpu) { return near.contains(cpu); })))
        continue;
      for (const std::uint32_t cpu : std::exchange(core, {})) own.set(cpu);
      --left;
    }
    if (own.none()) continue;
    out.all |= own;
    out.of_gpus.push_back({gpu.index, std::move(own)});
  }
  if (out.all.none()) return nullptr;
  out.others = std::move(cpus);
  out.others.andnot(out.all);
  return std::make_shared<const RestrictedCpus>(std::move(out));
}

bool may_use_restricted_cpus(const JobSpec& spec, const Partition& partition) {
  if (spec.exclusive || partition.exclusive || !spec.gpu_alternatives.empty()) return true;
  for (const auto* requests : {&spec.gpus_per_node, &spec.gpus_total, &spec.gpus_per_task})
    for (const ares::GpuRequest& request : *requests)
      if (devices_of(request) > 0) return true;
  return false;
}

IntervalSet numbers_in(const Bitset& set) {
  IntervalSet out;
  set.for_each([&](std::size_t number) { out.insert(static_cast<std::uint32_t>(number)); });
  return out;
}

}  // namespace ares::core::topology
