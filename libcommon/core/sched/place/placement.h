// Placement: the nodes of a job and what it gets on each. Plain values; any thread.
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
  // Column of the device's type in Amounts.
  std::size_t column = 0;
  std::uint32_t thousandths = 0;
  // None: not chosen yet, because the job starts later.
  std::optional<GpuIndex> gpu{};
  // On a device that jobs share already, so no whole GPU is taken.
  bool joins = false;
};

struct PlacedShare {
  NodeIndex node = 0;
  std::uint32_t tasks = 0;
  Amounts amounts;  // taken from the node
  std::optional<PlacedPart> part{};
};

// In rank order: ascending node, or the order of the network where there is one.
using Placement = std::vector<PlacedShare>;

}  // namespace ares::core::sched
