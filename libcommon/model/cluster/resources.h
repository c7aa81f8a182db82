// What machines have and jobs ask for: CPUs, memory, GPUs, and the interned names (TRES) they are accounted under.
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
  std::vector<std::uint32_t> cores;  // nearest cores, empty = unknown
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// How a node's GPUs are linked, in the form that core/topology writes and reads (parsed_topology.h). Nodes are copied with every charge, so copies
// share the text. Empty: the node does not tell.
class GpuTopology {
 public:
  GpuTopology() = default;
  explicit GpuTopology(std::string text)
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}

  bool empty() const { return !text_; }
  std::string_view text() const { return text_ ? std::string_view(*text_) : std::string_view(); }
  // Whether it is one and the same text in memory: equal without a look at it.
  bool shares(const GpuTopology& other) const { return text_ == other.text_; }

  friend bool operator==(const GpuTopology& a, const GpuTopology& b) {
    return a.shares(b) || a.text() == b.text();
  }

 private:
  std::shared_ptr<const std::string> text_;
};
inline constexpr std::size_t kMaxGpuTopology = 65536;  // bytes

// What a node has, as it found it or as the configuration says.
struct Inventory {
  std::uint32_t cpus = 0;
  Bytes memory{};
  std::vector<Gpu> gpus;  // ascending index
  std::vector<std::string> features;
  GpuTopology gpu_topology{};  // as it found it; never configured
  friend bool operator==(const Inventory&, const Inventory&) = default;
};

// Interned TRES names: storage knows numbers only, never positions.
struct Tres {
  TresId id;
  std::string name;  // "cpu", "mem", "node", "billing", "gres/gpu", "gres/gpu:a100"
  friend bool operator==(const Tres&, const Tres&) = default;
};

inline constexpr TresId kTresCpu{1};
inline constexpr TresId kTresMem{2};  // MiB, as every accounting tool shows it
inline constexpr TresId kTresNode{4};
inline constexpr TresId kTresBilling{5};
inline constexpr TresId kTresGpu{1001};  // thousandths of a GPU, as gres/gpu:TYPE
inline constexpr TresId kFirstDynamicTres{
    1002};  // gres/gpu:TYPE, licences, in order of first sight

// Sparse vector over the interned TRES, ascending id, no zero entries.
using TresCounts = std::vector<std::pair<TresId, std::int64_t>>;

}  // namespace ares
