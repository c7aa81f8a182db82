// Placement: which nodes give what to a job. Plain values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/sched/index/amounts.h"
#include "model/cluster/node.h"

namespace ares::core::sched {

// A part of one GPU.
struct PlacedPart {
  std::size_t column = 0;  // the device's type, of Amounts
  std::uint32_t thousandths = 0;
  std::optional<GpuIndex> gpu{};  // none: not chosen yet, for it starts later
  bool joins = false;             // a device that others have parts of: no whole one is taken
};

struct PlacedShare {
  NodeIndex node = 0;
  std::uint32_t tasks = 0;
  Amounts amounts;  // taken of the node
  std::optional<PlacedPart> part{};
};

// In rank order: ascending node, or along the network where there is one.
using Placement = std::vector<PlacedShare>;

}  // namespace ares::core::sched
