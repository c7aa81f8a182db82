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

inline constexpr unsigned kMaxNvlinks = 64;  // between two GPUs; the largest known number is 18

enum class GpuShape : std::uint8_t {
  any,          // as close to each other as the free GPUs allow
  nvlink,       // connected by NVLinks, directly or through other GPUs of the job
  nvswitch,     // "switch": each pair directly, all by the same number of NVLinks (NVSwitch)
  pcie_switch,  // "pix": below one PCIe switch
  numa_node,    // "node": closest to the same NUMA nodes
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
// Error: invalid_argument, with the list of accepted words.
Result<GpuShape> parse_gpu_shape(std::string_view word);

// One GPU fulfils every constraint. If k GPUs fulfil it, so do some k - 1 of them.
struct GpuConstraint {
  GpuShape shape = GpuShape::any;
  unsigned min_nvlinks = 0;  // each pair of GPUs has at least that many direct NVLinks

  bool none() const { return shape == GpuShape::any && min_nvlinks == 0; }
  friend bool operator==(const GpuConstraint&, const GpuConstraint&) = default;
  friend auto operator<=>(const GpuConstraint&, const GpuConstraint&) = default;
};

// "--gpu-topology=nvlink and --min-nvlink=2"; empty for none.
std::string to_text(const GpuConstraint& constraint);

}  // namespace ares
