#include "model/cluster/network_by_features.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ares {
namespace {

constexpr char kBelow = '/';

bool may_be_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// Empty: none, or one that cannot be a part of a name.
std::string_view value_of(const std::string& name, std::span<const std::string> features) {
  for (const std::string& feature : features) {
    if (feature.size() <= name.size() || feature[name.size()] != '=' || !feature.starts_with(name))
      continue;
    const std::string_view value = std::string_view(feature).substr(name.size() + 1);
    return std::all_of(value.begin(), value.end(), may_be_in_name) ? value : std::string_view();
  }
  return {};
}

}  // namespace

std::string leaf_by_features(const NetworkSpec& network, std::span<const std::string> features) {
  std::string leaf;
  for (const std::string& name : network.by_features) {
    const std::string_view value = value_of(name, features);
    if (value.empty()) return {};
    if (!leaf.empty()) leaf += kBelow;
    leaf += value;
  }
  return leaf;
}

NetworkSpec network_of_nodes(const NetworkSpec& network, std::span<const NetworkNode> nodes) {
  std::map<std::string, std::vector<std::string>> leaves;
  for (const NetworkNode& node : nodes)
    if (std::string leaf = leaf_by_features(network, node.features); !leaf.empty())
      leaves[std::move(leaf)].emplace_back(node.name);

  NetworkSpec out{network.name, network.kind, {}};
  std::vector<std::string> level;
  for (auto& [name, members] : leaves) {
    level.push_back(name);
    out.domains.push_back({name, std::move(members), {}});
  }
  for (std::size_t above = network.by_features.size(); above > 1; --above) {
    std::map<std::string, std::vector<std::string>> switches;
    for (const std::string& name : level)
      switches[name.substr(0, name.rfind(kBelow))].push_back(name);
    level.clear();
    for (auto& [name, below] : switches) {
      level.push_back(name);
      out.domains.push_back({name, {}, std::move(below)});
    }
  }
  return out;
}

}  // namespace ares
