// Resources of a node that can be allocated: what the node found, bounded by what is configured.
// Pure functions; any thread.
#pragma once

#include <string>

#include "model/cluster/resources.h"

namespace ares::core {

// Field by field. Zero (or empty) in `configured` means "what the node has".
Inventory in_force(const Inventory& configured, const Inventory& found);

// "Low CPUs (2 < 4)", as the reason of a drain; empty if the node has at least what is configured.
std::string shortfall(const Inventory& configured, const Inventory& found);
inline constexpr std::string_view kShortfall = "Low ";  // prefix of all such reasons

}  // namespace ares::core
