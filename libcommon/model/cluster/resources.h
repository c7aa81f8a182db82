// Resources of machines and jobs: CPUs, memory, GPUs, and the interned TRES names for accounting.
// Plain data; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "model/cluster/shared_text.h"

namespace ares {

// One accelerator of a node.
struct Gpu {
  GpuIndex index;
  std::string type;                  // "a100"; never empty ("gpu" where the model is unknown)
  std::vector<std::uint32_t> cores;  // closest cores; empty = unknown
  Bytes memory{};                    // of its own, as found, never configured; 0 = unknown
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// Links between a node's GPUs, in the text form of core/topology (parsed_topology.h). Empty: the
// node did not report it.
using GpuTopology = SharedText;
inline constexpr std::size_t kMaxGpuTopology = 65536;  // bytes

inline constexpr std::uint32_t kWholeCpu = 1000;  // thousandths

// Resources of a node, as detected or configured.
struct Inventory {
  std::uint32_t cpus = 0;
  Bytes memory{};
  std::vector<Gpu> gpus;  // ascending index
  std::vector<std::string> features;
  GpuTopology gpu_topology{};  // as detected; never configured
  SharedText cpu_layout{};     // as detected, the text of a CpuLayout; empty = not known
  // Cores for each GPU that jobs without GPUs do not get; as configured, never detected.
  std::uint32_t restricted_cores_per_gpu = 0;
  // The most attempts that it takes at a time, as found, never configured; none: any number.
  std::optional<std::uint32_t> max_attempts{};
  // Temporary storage that jobs can have, as configured or found; none: it is not known, and not counted.
  std::optional<Bytes> tmp_disk{};
  // Thousandths of CPUs of a node that counts them so, as found, never configured; 0: it counts whole
  // CPUs. `cpus` is then the amount rounded down, but at least 1.
  std::uint32_t cpu_thousandths = 0;
  friend bool operator==(const Inventory&, const Inventory&) = default;
};

// CPUs in thousandths of an inventory, a share or a charge, also of one that counts whole CPUs.
template <class Counted>
constexpr std::uint64_t cpu_thousandths_of(const Counted& counted) {
  return counted.cpu_thousandths > 0 ? std::uint64_t{counted.cpu_thousandths}
                                     : std::uint64_t{counted.cpus} * kWholeCpu;
}
// The whole CPUs that hold so many thousandths.
constexpr std::uint64_t whole_cpus(std::uint64_t thousandths) {
  return thousandths / kWholeCpu + (thousandths % kWholeCpu > 0 ? 1 : 0);
}

// An interned TRES name. Storage refers to the id.
struct Tres {
  TresId id;
  std::string name;  // "cpu", "mem", "node", "billing", "gres/gpu", "gres/gpu:a100"
  friend bool operator==(const Tres&, const Tres&) = default;
};

inline constexpr TresId kTresCpu{1};
inline constexpr TresId kTresMem{2};  // MiB, as all accounting tools show it
inline constexpr TresId kTresNode{4};
inline constexpr TresId kTresBilling{5};
inline constexpr TresId kTresGpu{1001};  // thousandths of a GPU, like gres/gpu:TYPE
inline constexpr TresId kFirstDynamicTres{
    1002};  // gres/gpu:TYPE and licenses, in order of first appearance

// Sparse vector over the interned TRES, ascending id, no zero entries.
using TresCounts = std::vector<std::pair<TresId, std::int64_t>>;

}  // namespace ares
