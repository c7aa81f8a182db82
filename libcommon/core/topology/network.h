// Network: switches or blocks between machines as an index over node numbers. pack() selects nodes
// that are close together. Pure values; made with the scheduler's index, any thread may read.
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

  // A switch with everything below it, or the whole network.
  struct Domain {
    std::uint32_t first = 0, end = 0;  // range of its leaves: [first, end)
    std::uint32_t height = 0;          // levels of switches below it; 0 = a leaf
  };

  // Nodes that `number_of` does not know are omitted.
  Network(const NetworkSpec& spec,
          const std::function<std::optional<Node>(const std::string&)>& number_of);

  // Leaf switch or block of a node; leaves below one switch are consecutive. kNoLeaf: in none.
  std::uint32_t leaf_of(Node node) const {
    return node < leaf_of_.size() ? leaf_of_[node] : kNoLeaf;
  }
  std::uint32_t leaves() const { return leaves_; }

  // Ascending height, then first leaf; the last one has all leaves. No two have the same leaves.
  std::span<const Domain> domains() const { return domains_; }

 private:
  std::vector<std::uint32_t> leaf_of_;
  std::uint32_t leaves_ = 0;
  std::vector<Domain> domains_;
};

// A node that can take its share of the job.
struct NodeCandidate {
  Network::Node node = 0;
  bool required = false;
};

struct PackLimits {
  std::uint32_t max_leaves = 0;  // 0 = no maximum
  std::uint32_t segment = 1;     // nodes of each leaf are a multiple of this; at least 1
};

// Selects `count` of `offers` (by preference, each node once). Domain: the lowest that has enough,
// then with the fewest offers, then with the fewest leaves used, then the first. Leaves: as few as
// possible, the last one the smallest that suffices; in each, required nodes before preferred ones.
// Nodes in no leaf only if nothing else suffices, never with limits. Returns indices in `offers` by
// leaf and node; none if the limits or the count cannot be met.
std::optional<std::vector<std::uint32_t>> pack(const Network& network,
                                               std::span<const NodeCandidate> offers,
                                               std::uint32_t count, PackLimits limits);

}  // namespace ares::core::topology
