// Resources of a node that can be allocated: what the node found, bounded by what is configured.
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>

#include "model/cluster/node.h"

namespace ares::core {

// Field by field. Zero (or empty) in `configured` means "what the node has".
Inventory in_force(const Inventory& configured, const Inventory& found);

// What a node has reported, to be kept beside what is in force of it (Node::reported).
std::optional<Inventory> if_cut(Inventory reported, const Inventory& in_force);

// Changes what is configured of a node. Until it registers again it has at most what it last
// reported: fewer CPUs and less memory at once, but all GPUs that it has, which jobs may use. What
// an earlier configuration has cut and this one does not, comes back.
void configure(Node& node, const Inventory& configured);

// "Low CPUs (2 < 4)", as the reason of a drain; empty if the node has at least what is configured.
std::string shortfall(const Inventory& configured, const Inventory& found);
inline constexpr std::string_view kShortfall = "Low ";  // prefix of all such reasons

}  // namespace ares::core
