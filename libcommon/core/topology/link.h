// How two devices of a machine reach each other, and what that is worth.
// Plain values; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/job/gpu_constraint.h"

namespace ares::core::topology {

// The way over PCIe, nearest first. Each level lies within the next one.
enum class Path : std::uint8_t {
  pix,   // one switch
  pxb,   // several switches
  phb,   // the processor's host bridge
  node,  // two host bridges of one NUMA node
  sys,   // two NUMA nodes; "SOC" in old drivers
};

// What nvidia-smi prints where two devices meet. It prints NVLinks only, where there are any: then `path` is unknown.
struct Link {
  std::uint8_t nvlinks = 0;  // 0 = none
  Path path = Path::sys;     // meaningless with NVLinks

  friend bool operator==(const Link& a, const Link& b) {
    return a.nvlinks == b.nvlinks && (a.nvlinks > 0 || a.path == b.path);
  }
};

// "NV12", "PIX".
std::string format_link(Link link);
std::string_view format_path(Path path);

// One cell at the front of `text`, which loses it: "X" gives a Cell without link. Nothing, and `text` untouched, where none is there.
struct Cell {
  std::optional<Link> link;  // none = the device itself
};
std::optional<Cell> take_cell(std::string_view& text);

// Gigabytes a second in one direction between two GPUs.
struct Bandwidth {
  std::int64_t gb_per_s = 0;
  friend auto operator<=>(Bandwidth, Bandwidth) = default;
  friend Bandwidth operator+(Bandwidth a, Bandwidth b) { return {a.gb_per_s + b.gb_per_s}; }
};

// Nominal, for comparing links of one machine: 25 GB/s an NVLink (versions 2 to 4), and what peer-to-peer copies keep of 16 lanes of
// PCIe 3 over each kind of way. Every NVLink is above every way over PCIe.
Bandwidth bandwidth(Link link);

}  // namespace ares::core::topology
