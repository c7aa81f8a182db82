#include <algorithm>

#include "core/topology/matrix/matrix.h"

namespace ares::core::topology {
namespace {

// A cell that is never empty: the parser finds empty cells by position, which needs padding.
std::string list_or_none(const IntervalSet& set) {
  return set.empty() ? "N/A" : format_interval_set(set);
}

std::string name_of(const Matrix& matrix, std::size_t device) {
  return device < matrix.gpus.size() ? "GPU" + std::to_string(matrix.gpus[device].number)
                                     : matrix.nics[device - matrix.gpus.size()].name;
}

// Whether no link is unknown. Rows of NICs may be missing; the other rows have their links.
bool is_whole(const Matrix& matrix, std::size_t device) {
  for (std::size_t other = 0; other < matrix.devices(); ++other)
    if (other != device && !matrix.link(device, other)) return false;
  return true;
}

}  // namespace

std::string format_matrix(const Matrix& matrix) {
  const bool own_numa = std::any_of(matrix.gpus.begin(), matrix.gpus.end(),
                                    [](const MatrixGpu& gpu) { return !gpu.own_numa.empty(); });
  std::string text;
  for (std::size_t i = 0; i < matrix.devices(); ++i) text += "\t" + name_of(matrix, i);
  text += "\tCPU Affinity\tNUMA Affinity";
  text += own_numa ? "\tGPU NUMA ID\n" : "\n";
  for (std::size_t a = 0; a < matrix.devices(); ++a) {
    if (!is_whole(matrix, a)) continue;
    text += name_of(matrix, a);
    for (std::size_t b = 0; b < matrix.devices(); ++b)
      text += "\t" + (a == b ? "X" : format_link(*matrix.link(a, b)));
    if (a < matrix.gpus.size()) {
      const MatrixGpu& gpu = matrix.gpus[a];
      text += "\t" + list_or_none(gpu.cpus) + "\t" + list_or_none(gpu.numa);
      if (own_numa) text += "\t" + list_or_none(gpu.own_numa);
    }
    text += "\n";
  }
  return text;
}

}  // namespace ares::core::topology
