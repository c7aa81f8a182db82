// What a job may demand of the links between its GPUs on each node: --gpu-topology and --min-nvlink.
// Plain values; any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares {

inline constexpr unsigned kMaxNvlinks = 64;  // of one pair; the largest known has 18

enum class GpuShape : std::uint8_t {
  any,     // as near to each other as free GPUs are
  nvlink,  // joined to one whole by NVLinks among themselves, be it over one another
  nvswitch,  // "switch": every two joined directly, all by equally many NVLinks, as a switch joins them
  pcie_switch,  // "pix": below one PCIe switch
  numa_node,    // "node": nearest to the same NUMA nodes
};
inline constexpr GpuShape kLastGpuShape = GpuShape::numa_node;

struct GpuShapeName {
  std::string_view word;
  GpuShape shape;
  std::string_view help;
};

// The words of --gpu-topology.
const std::array<GpuShapeName, 5>& gpu_shape_names();
std::string_view to_string(GpuShape shape);
// invalid_argument, with the words that there are.
Result<GpuShape> parse_gpu_shape(std::string_view word);

// One GPU fulfils every constraint, and whatever fulfils one still does with a GPU fewer (not with any, but with some).
struct GpuConstraint {
  GpuShape shape = GpuShape::any;
  unsigned min_nvlinks = 0;  // every two GPUs are joined directly by at least so many

  bool none() const { return shape == GpuShape::any && min_nvlinks == 0; }
  friend bool operator==(const GpuConstraint&, const GpuConstraint&) = default;
  friend auto operator<=>(const GpuConstraint&, const GpuConstraint&) = default;
};

// "--gpu-topology=nvlink and --min-nvlink=2"; empty for none.
std::string to_text(const GpuConstraint& constraint);

}  // namespace ares
