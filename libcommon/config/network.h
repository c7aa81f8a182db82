// topology.yaml: the networks between machines, a file of its own beside ares.yaml.
// Internal to config/ but for its tables, which the manual page shows; pure functions but for the reading of the file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/fields.h"
#include "model/cluster/network.h"

namespace ares::config {

// The networks in the text of the file `path`, checked: every name is known and stands once, a node is in at most one
// leaf of a network, a switch below at most one other and never below itself. invalid_argument with "PATH:LINE: …".
Result<std::vector<NetworkSpec>> read_networks(const std::string& text, const std::string& path,
                                               std::span<const std::string> known_nodes);

std::vector<Field<NetworkSpec>> network_fields();   // an item of `topologies`
std::vector<Field<NetworkDomain>> switch_fields();  // a line of `tree`
std::vector<Field<NetworkDomain>> block_fields();   // a line of `block`

// On one line, for comparison, for the hash and for showing what changes.
std::string print_network(const NetworkSpec& network);

}  // namespace ares::config
