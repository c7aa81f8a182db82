// What a request may demand of the links between its GPUs: --gpu-topology and --min-nvlink.
// Plain values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace ares::core::topology {

enum class Shape : std::uint8_t {
  any,     // as near to each other as free GPUs are
  nvlink,  // joined to one whole by NVLinks among themselves, be it over one another
  nvswitch,  // "switch": every two joined directly, all by equally many NVLinks, as a switch joins them
  pcie_switch,  // "pix": below one PCIe switch
  numa_node,    // "node": nearest to the same NUMA nodes
};

struct ShapeName {
  std::string_view word;
  Shape shape;
  std::string_view help;
};

// The words of --gpu-topology.
const std::array<ShapeName, 5>& shape_names();
std::string_view to_string(Shape shape);
// invalid_argument, with the words that there are.
Result<Shape> parse_shape(std::string_view word);

// One GPU fulfils every constraint.
struct Constraint {
  Shape shape = Shape::any;
  unsigned min_nvlinks = 0;  // every two GPUs are joined directly by at least so many

  friend bool operator==(const Constraint&, const Constraint&) = default;
};

}  // namespace ares::core::topology
