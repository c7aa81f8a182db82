// Network: the switches or blocks between machines as an index over node numbers, and pack(): which of the nodes that would do
// a gang gets, so that it lies close together. Pure values; made with the scheduler's index, any thread may read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/cluster/network.h"

namespace ares::core::topology {

class Network {
 public:
  using Node = std::uint32_t;
  static constexpr std::uint32_t kNoLeaf = ~std::uint32_t{0};

  // A switch with all that is below it, or all of the network.
  struct Domain {
    std::uint32_t first = 0, end = 0;  // its leaves
    std::uint32_t height = 0;          // of switches below it on the longest way down; 0 = a leaf
  };

  // Nodes that `number_of` does not know are left out.
  Network(const NetworkSpec& spec,
          const std::function<std::optional<Node>(const std::string&)>& number_of);

  // Leaf switches or blocks, numbered so that those below one switch lie together. kNowhere: in none.
  std::uint32_t leaf_of(Node node) const {
    return node < leaf_of_.size() ? leaf_of_[node] : kNoLeaf;
  }
  std::uint32_t leaves() const { return leaves_; }

  // Ascending height, then first leaf; the last holds every leaf. No two have the same leaves.
  std::span<const Domain> domains() const { return domains_; }

 private:
  std::vector<std::uint32_t> leaf_of_;
  std::uint32_t leaves_ = 0;
  std::vector<Domain> domains_;
};

// A node that could take its share.
struct NodeCandidate {
  Network::Node node = 0;
  bool required = false;
};

struct PackLimits {
  std::uint32_t max_leaves = 0;  // 0 = any number
  std::uint32_t segment = 1;     // each leaf gives a multiple of this; at least 1
};

// Takes `count` of the offers, which stand in the order of preference, each node once: in the lowest domain that can give
// them, of several such in the fullest (fewest offers), then where the fewest leaves are enough, then in the first. There from
// the fewest leaves, of which the last is the smallest that will do; in each leaf what is required, then what is preferred.
// Nodes that are in no leaf are taken only where nothing else will do, and never for limits. Positions in `offers`, ascending
// leaf, then node; nothing if the limits or the number cannot be met.
std::optional<std::vector<std::uint32_t>> pack(const Network& network,
                                               std::span<const NodeCandidate> offers,
                                               std::uint32_t count, PackLimits limits);

}  // namespace ares::core::topology
