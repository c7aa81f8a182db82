#include "model/job/gpu_constraint.h"

#include "base/printable.h"

namespace ares {

const std::array<GpuShapeName, 5>& gpu_shape_names() {
  static constexpr std::array<GpuShapeName, 5> names = {{
      {"any", GpuShape::any, "as near to each other as the free ones are"},
      {"nvlink", GpuShape::nvlink, "joined to one whole by NVLinks among themselves"},
      {"switch", GpuShape::nvswitch, "every two joined directly by equally many NVLinks"},
      {"pix", GpuShape::pcie_switch, "below one PCIe switch"},
      {"node", GpuShape::numa_node, "nearest to the same NUMA node"},
  }};
  return names;
}

std::string_view to_string(GpuShape shape) {
  return gpu_shape_names()[static_cast<std::size_t>(shape)].word;
}

Result<GpuShape> parse_gpu_shape(std::string_view word) {
  std::string words;
  for (const GpuShapeName& name : gpu_shape_names()) {
    if (name.word == word) return name.shape;
    words += (words.empty() ? "" : ", ") + std::string(name.word);
  }
  return fail(ErrorCode::invalid_argument,
              quote(word) + " is no topology of GPUs; there are " + words);
}

std::string to_text(const GpuConstraint& constraint) {
  std::string text;
  if (constraint.shape != GpuShape::any)
    text = "--gpu-topology=" + std::string(to_string(constraint.shape));
  if (constraint.min_nvlinks > 0)
    text +=
        (text.empty() ? "" : " and ") + ("--min-nvlink=" + std::to_string(constraint.min_nvlinks));
  return text;
}

}  // namespace ares
