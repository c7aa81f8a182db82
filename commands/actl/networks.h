// `show topology`: the networks between nodes as ares.yaml and its topology_file on this machine describe
// them; those that follow from features, as the controller's nodes have them. Pure functions except for the
// command itself; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cluster/network.h"
#include "proto/gen/api.pb.h"

namespace ares::actl {

// The networks with the switches or blocks that follow from the features of these nodes; others stay as they
// are.
std::vector<NetworkSpec> networks_of_nodes(std::span<const NetworkSpec> networks,
                                           const api::Nodes& nodes);

// A line for each switch or block, in the file's order and with all nodes below it. `wanted` is a host list, or
// the name of a switch or block: of those only the ones that have these nodes, or this name. Empty: all.
// not_found: no network has them.
Result<std::string> describe_networks(std::span<const NetworkSpec> networks,
                                      const std::string& wanted);
// The same as JSON: {"topologies": [{"name", "kind", "domains": [...]}]}.
Result<std::string> networks_json(std::span<const NetworkSpec> networks, const std::string& wanted);

}  // namespace ares::actl
