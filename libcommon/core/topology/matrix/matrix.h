// What `nvidia-smi topo -m` says of a machine, as printed: devices and the links between them.
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
  IntervalSet cpus;      // nearest ones; empty = not told
  IntervalSet numa;      // nearest NUMA nodes; empty = not told
  IntervalSet own_numa;  // the node of its own memory, where it has one
};

struct MatrixNic {
  std::string name;    // "NIC0", or "mlx5_0" from old drivers
  std::string device;  // "mlx5_0", where a legend tells; else ""
};

// Devices are counted through: the GPUs in the order of the header, then the NICs.
struct Matrix {
  std::vector<MatrixGpu> gpus;
  std::vector<MatrixNic> nics;
  std::vector<std::optional<Link>> links;  // row by row; none = the device itself, or not told
  std::vector<std::string> notes;          // what was missing and could be done without

  std::size_t devices() const { return gpus.size() + nics.size(); }
  const std::optional<Link>& link(std::size_t a, std::size_t b) const {
    return links[a * devices() + b];
  }
};

// Reads the matrix out of `text`; what stands before and behind it (prompts, legends) does not matter.
// Understood: tabulators, blanks and both mixed; indented text; cells run together ("NODEPXB"); colours; empty affinities; SOC for SYS.
// invalid_argument, "line L, column C: ..." and what to do, for
// - a text without matrix, or with two; more than 1 MiB, or a line of more than 16 KiB;
// - the line of a GPU that is missing or cut: other lines tell its links but not its processors. Of NICs lines may be missing, which
//   `notes` says: what GPUs' lines tell of them is enough;
// - cells that are no link, X elsewhere than where a device meets itself, two cells for one pair that differ, affinities that are no list.
Result<Matrix> parse_matrix(std::string_view text);

// The shortest text that parse_matrix() reads as this matrix; the devices behind the NICs' names and the notes are left out.
std::string format_matrix(const Matrix& matrix);

}  // namespace ares::core::topology
