// Links between two devices of a machine, and their bandwidth.
// Plain values; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/job/gpu_constraint.h"

namespace ares::core::topology {

// PCIe paths, nearest first. Each level is contained in the next one.
enum class Path : std::uint8_t {
  pix,   // one switch
  pxb,   // several switches
  phb,   // the processor's host bridge
  node,  // two host bridges of one NUMA node
  sys,   // two NUMA nodes; "SOC" in old drivers
};

// A cell of nvidia-smi's matrix. For pairs with NVLinks it shows only these; `path` is unknown.
struct Link {
  std::uint8_t nvlinks = 0;  // 0 = none
  Path path = Path::sys;     // meaningless if nvlinks > 0

  friend bool operator==(const Link& a, const Link& b) {
    return a.nvlinks == b.nvlinks && (a.nvlinks > 0 || a.path == b.path);
  }
};

// "NV12", "PIX".
std::string format_link(Link link);
std::string_view format_path(Path path);

// Removes a cell from the start of `text`; "X" has no link. None: no cell there, `text` unchanged.
struct Cell {
  std::optional<Link> link;  // none = the device itself
};
std::optional<Cell> take_cell(std::string_view& text);

// GB/s in one direction between two GPUs.
struct Bandwidth {
  std::int64_t gb_per_s = 0;
  friend auto operator<=>(Bandwidth, Bandwidth) = default;
  friend Bandwidth operator+(Bandwidth a, Bandwidth b) { return {a.gb_per_s + b.gb_per_s}; }
};

// Nominal, to compare links of one machine: 25 GB/s for each NVLink (versions 2 to 4), for PCIe the
// rate of peer-to-peer copies over 16 lanes of PCIe 3. Any NVLink is faster than any PCIe path.
Bandwidth bandwidth(Link link);

}  // namespace ares::core::topology
