// filter(): which nodes a job may use at all, whatever is free on them.
// Pure; called once for all shapes of demand that ask the same of a node's name and features.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bitset.h"
#include "core/sched/index/cluster_index.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core::sched {

// Ascending, and never changed: copies share it.
class NodeList {
 public:
  NodeList() : NodeList({}, 0) {}
  // Of a cluster of so many nodes.
  NodeList(std::vector<NodeIndex> nodes, std::size_t of) {
    Bitset bits(of);
    for (const NodeIndex at : nodes) bits.set(at);
    content_ = std::make_shared<const Content>(std::move(nodes), std::move(bits));
  }
  const NodeIndex* begin() const { return content_->nodes.data(); }
  const NodeIndex* end() const { return begin() + size(); }
  const NodeIndex* data() const { return begin(); }
  std::size_t size() const { return content_->nodes.size(); }
  bool empty() const { return content_->nodes.empty(); }
  const Bitset& bits() const { return content_->bits; }  // valid as long as a copy lives

 private:
  struct Content {
    std::vector<NodeIndex> nodes;
    Bitset bits;
  };
  std::shared_ptr<const Content> content_;
};

struct Candidates {
  NodeList members;                 // would do if they were up: in the partition, features, not -x
  NodeList usable;                  // of these: up, registered, not one that failed to launch it
  NodeList fallback;                // usable and those that failed to launch it
  std::vector<NodeIndex> required;  // of -w, ascending
  std::string problem;  // why no node will ever do: a required node that is not a member
};

Candidates filter(const Job& job, const Partition& partition, ClusterIndex& index);

}  // namespace ares::core::sched
