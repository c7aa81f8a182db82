#include "core/topology/constraint.h"

#include <algorithm>
#include <string>

namespace ares::core::topology {

const std::array<ShapeName, 5>& shape_names() {
  static constexpr std::array<ShapeName, 5> names = {{
      {"any", Shape::any, "as near to each other as the free ones are"},
      {"nvlink", Shape::nvlink, "joined to one whole by NVLinks among themselves"},
      {"switch", Shape::nvswitch, "every two joined directly by equally many NVLinks"},
      {"pix", Shape::pcie_switch, "below one PCIe switch"},
      {"node", Shape::numa_node, "nearest to the same NUMA node"},
  }};
  return names;
}

std::string_view to_string(Shape shape) {
  return shape_names()[static_cast<std::size_t>(shape)].word;
}

Result<Shape> parse_shape(std::string_view word) {
  std::string words;
  for (const ShapeName& name : shape_names()) {
    if (name.word == word) return name.shape;
    words += (words.empty() ? "" : ", ") + std::string(name.word);
  }
  return fail(ErrorCode::invalid_argument,
              "\"" + std::string(word) + "\" is no topology of GPUs; there are " + words);
}

}  // namespace ares::core::topology
