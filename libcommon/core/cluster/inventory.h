// Which of a node's resources may be handed out: what it found, bounded by what the configuration says it has.
// Pure functions; any thread.
#pragma once

#include <string>

#include "model/cluster/resources.h"

namespace ares::core {

// Per field: zero (or empty) in `configured` means "whatever the node has".
Inventory in_force(const Inventory& configured, const Inventory& found);

// "Low CPUs (2 < 4)", as the reason of a drain; empty where the node has at least what is configured.
std::string shortfall(const Inventory& configured, const Inventory& found);
inline constexpr std::string_view kShortfall = "Low ";  // how every such reason begins

}  // namespace ares::core
