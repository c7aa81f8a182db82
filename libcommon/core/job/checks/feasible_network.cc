// Whether a partition's network could ever satisfy --switches and --segment, and if not, why.
#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "core/job/decide/decision_context.h"
#include "model/cluster/network_by_features.h"

namespace ares::core {
namespace {

std::string count_text(std::uint64_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

// A network by features with those nodes of the partition that are there now.
NetworkSpec network_now(const NetworkSpec& network, const ClusterState& state,
                        const Partition& partition) {
  std::vector<NetworkNode> nodes;
  for (const std::string& name : partition.nodes)
    if (const NodeId* id = state.node_ids.find(name))
      if (const Node* node = state.nodes.find(*id))
        nodes.push_back({node->name, node->inventory.features});
  return network_of_nodes(network, nodes);
}

// Number of nodes under each leaf switch or block that the job could use, descending.
std::vector<std::uint64_t> leaf_sizes(const NetworkSpec& network, const JobSpec& spec,
                                      const Partition& partition) {
  std::set<std::string_view> nodes(partition.nodes.begin(), partition.nodes.end());
  for (const std::string& name : spec.excluded_nodes) nodes.erase(name);
  std::vector<std::uint64_t> sizes;
  for (const NetworkDomain& domain : network.domains) {
    const auto has = std::count_if(domain.nodes.begin(), domain.nodes.end(),
                                   [&](const std::string& name) { return nodes.contains(name); });
    if (has > 0) sizes.push_back(static_cast<std::uint64_t>(has));
  }
  std::sort(sizes.begin(), sizes.end(), std::greater<>{});
  return sizes;
}

std::string features_text(const NetworkSpec& network) {
  std::string text;
  for (const std::string& name : network.by_features) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::string why_network_forbids(const ClusterState& state, const Policy& policy,
                                const JobSpec& spec, const Partition& partition) {
  if (spec.switches == 0 && spec.segment <= 1) return {};
  const NetworkSpec* network = policy.networks.find(partition.topology);
  if (!network)
    return std::string(spec.segment > 1 ? "--segment" : "--switches") +
           " needs to know the network between the nodes, and partition " + partition.name +
           " has no topology; leave the option out";
  const bool tree = network->kind == NetworkKind::tree;
  const std::string leaf = tree ? "leaf switch" : "block";
  const std::string where = " of topology " + network->name + " has in partition " + partition.name;
  const auto sizes = network->is_by_features()
                         ? leaf_sizes(network_now(*network, state, partition), spec, partition)
                         : leaf_sizes(*network, spec, partition);
  const std::uint64_t segment = std::max(spec.segment, 1u);
  if (sizes.empty() && network->is_by_features())
    return "no node of partition " + partition.name + " has the features by which topology " +
           network->name + " places nodes: " + features_text(*network);
  if (!sizes.empty() && segment > sizes.front())
    return "needs segments of " + count_text(segment, "node") + "; the most that a " + leaf +
           where + " is " + std::to_string(sizes.front());
  // A job that waits only a limited time for its switches may then use any number of them.
  const std::size_t leaves =
      spec.switches > 0 && !spec.switches_wait ? spec.switches : sizes.size();
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < std::min(leaves, sizes.size()); ++i)
    most += sizes[i] - sizes[i] % segment;
  if (spec.min_nodes <= most) return {};
  std::string text = "needs " + count_text(spec.min_nodes, "node");
  if (segment > 1) text += " in segments of " + std::to_string(segment);
  if (leaves < sizes.size())
    text += " under at most " +
            (leaves == 1 ? "one " + leaf
                         : std::to_string(leaves) + (tree ? " leaf switches" : " blocks"));
  return text + "; the most that can be had so in topology " + network->name + " and partition " +
         partition.name + " is " + std::to_string(most);
}

}  // namespace ares::core
