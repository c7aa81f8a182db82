// topology.yaml: the networks between machines, a separate file beside ares.yaml. Internal to
// config/ except for its tables, which the manual page shows. Pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/fields.h"
#include "model/cluster/network.h"

namespace ares::config {

// Parses and checks the networks in the text of the file `path`: every name is known and unique, a
// node is in at most one leaf of a network, and a switch is below at most one other switch and
// never below itself. The nodes of a network by features follow later. Returns invalid_argument with "PATH:LINE: …".
Result<std::vector<NetworkSpec>> read_networks(const std::string& text, const std::string& path,
                                               std::span<const std::string> known_nodes);

std::vector<Field<NetworkSpec>> network_fields();   // an item of `topologies`
std::vector<Field<NetworkDomain>> switch_fields();  // a line of `tree`
std::vector<Field<NetworkDomain>> block_fields();   // a line of `block`

// On one line, for comparison, for the hash and for displayed changes.
std::string print_network(const NetworkSpec& network);

}  // namespace ares::config
