// Networks whose switches or blocks follow from features NAME=VALUE of the nodes, such as labels of
// Kubernetes. Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster/network.h"

namespace ares {

struct NetworkNode {
  std::string_view name;
  std::span<const std::string> features;
};

// The leaf in which a node with these features is: the values of the levels from the top, as in
// "us-east/us-east-1a/r7", since racks of two zones may have the same name. Empty: in none, since a
// feature is missing, or its value is not of letters, digits, '.', '_' and '-'. Of several features
// of a name the first counts.
std::string leaf_by_features(const NetworkSpec& network, std::span<const std::string> features);

// The network with the switches or blocks that its nodes have now, the leaves first, each level in
// the order of the names. Precondition: network.is_by_features().
NetworkSpec network_of_nodes(const NetworkSpec& network, std::span<const NetworkNode> nodes);

}  // namespace ares
