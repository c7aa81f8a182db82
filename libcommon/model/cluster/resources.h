// Resources of machines and jobs: CPUs, memory, GPUs, and the interned TRES names for accounting.
// Plain data; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace ares {

// One accelerator of a node.
struct Gpu {
  GpuIndex index;
  std::string type;                  // "a100"; never empty ("gpu" where the model is unknown)
  std::vector<std::uint32_t> cores;  // closest cores; empty = unknown
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// Links between a node's GPUs, in the text form of core/topology (parsed_topology.h). Copies share
// the text, since nodes are copied with each charge. Empty: the node did not report it.
class GpuTopology {
 public:
  GpuTopology() = default;
  explicit GpuTopology(std::string text)
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}

  bool empty() const { return !text_; }
  std::string_view text() const { return text_ ? std::string_view(*text_) : std::string_view(); }
  // Whether both share one text in memory, which implies equality.
  bool shares(const GpuTopology& other) const { return text_ == other.text_; }

  friend bool operator==(const GpuTopology& a, const GpuTopology& b) {
    return a.shares(b) || a.text() == b.text();
  }

 private:
  std::shared_ptr<const std::string> text_;
};
inline constexpr std::size_t kMaxGpuTopology = 65536;  // bytes

// Resources of a node, as detected or configured.
struct Inventory {
  std::uint32_t cpus = 0;
  Bytes memory{};
  std::vector<Gpu> gpus;  // ascending index
  std::vector<std::string> features;
  GpuTopology gpu_topology{};  // as detected; never configured
  friend bool operator==(const Inventory&, const Inventory&) = default;
};

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
