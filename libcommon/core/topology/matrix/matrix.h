// Output of `nvidia-smi topo -m` for a machine: devices and the links between them.
// A plain value; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "core/topology/gpu_set.h"
#include "core/topology/link.h"

namespace ares::core::topology {

struct MatrixGpu {
  unsigned number = 0;   // below kMaxGpus
  IntervalSet cpus;      // nearest CPUs; empty = unknown
  IntervalSet numa;      // nearest NUMA nodes; empty = unknown
  IntervalSet own_numa;  // NUMA node of its own memory, if it has one
};

struct MatrixNic {
  std::string name;    // "NIC0", or "mlx5_0" from old drivers
  std::string device;  // "mlx5_0" if the legend has it, else ""
};

// Devices are numbered consecutively: GPUs in the order of the header, then NICs.
struct Matrix {
  std::vector<MatrixGpu> gpus;
  std::vector<MatrixNic> nics;
  std::vector<std::optional<Link>> links;  // row by row; none = the device itself, or unknown
  std::vector<std::string> notes;          // missing parts that are not needed

  std::size_t devices() const { return gpus.size() + nics.size(); }
  const std::optional<Link>& link(std::size_t a, std::size_t b) const {
    return links[a * devices() + b];
  }
};

// Reads the matrix in `text`; text around it (prompts, legends) is ignored. Accepted: tabs,
// blanks, both; indentation; joined cells ("NODEPXB"); colour codes; empty affinities; SOC for SYS.
// Errors: invalid_argument, "line L, column C: ..." with a remedy, for
// - text without a matrix, with two matrices, above 1 MiB, or with a line above 16 KiB;
// - a missing or truncated line of a GPU: no other line has its CPUs. Lines of NICs may be missing,
//   which is recorded in `notes`: the lines of GPUs have their links;
// - invalid links, misplaced X, contradicting cells for one pair, affinities that are not lists.
Result<Matrix> parse_matrix(std::string_view text);

// The shortest text that parse_matrix() reads as this matrix, without NICs' device names and notes.
std::string format_matrix(const Matrix& matrix);

}  // namespace ares::core::topology
