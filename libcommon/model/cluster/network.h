// Networks between nodes, as configured: named trees of switches, or blocks, over node names, or the
// features of nodes from which they follow (network_by_features.h).
// Plain data, made by config/ and part of the policy; immutable, any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ares {

enum class NetworkKind : std::uint8_t {
  tree,   // leaf switches with nodes, switches above them
  block,  // groups of nodes with their own fabric, such as NVL72 racks
};

// A switch or a block. A leaf has nodes, any other switch has switches.
struct NetworkDomain {
  std::string name;
  std::vector<std::string> nodes;
  std::vector<std::string> switches;
  friend bool operator==(const NetworkDomain&, const NetworkDomain&) = default;
};

// config/ checks: each node is in at most one leaf, each switch has at most one parent, no cycles.
struct NetworkSpec {
  std::string name;
  NetworkKind kind = NetworkKind::tree;
  std::vector<NetworkDomain> domains;  // in the file's order
  // In place of domains: features of nodes whose values are the switches of each level, from the
  // top, or the one whose values are the blocks.
  std::vector<std::string> by_features{};

  bool is_by_features() const { return !by_features.empty(); }
  friend bool operator==(const NetworkSpec&, const NetworkSpec&) = default;
};

// Copies share one list, so that comparing two copies is cheap.
class Networks {
 public:
  Networks() = default;
  Networks(std::vector<NetworkSpec> list)
      : list_(std::make_shared<const std::vector<NetworkSpec>>(std::move(list))) {}

  std::span<const NetworkSpec> all() const {
    return list_ ? std::span(*list_) : std::span<const NetworkSpec>();
  }
  // The network of that name; null if there is none.
  const NetworkSpec* find(std::string_view name) const {
    const auto found = std::find_if(all().begin(), all().end(), [&](const NetworkSpec& network) {
      return network.name == name;
    });
    return found == all().end() ? nullptr : &*found;
  }
  friend bool operator==(const Networks& a, const Networks& b) {
    return a.list_ == b.list_ ||
           std::equal(a.all().begin(), a.all().end(), b.all().begin(), b.all().end());
  }

 private:
  std::shared_ptr<const std::vector<NetworkSpec>> list_;
};

}  // namespace ares
