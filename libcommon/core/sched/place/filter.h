// filter(): which nodes a job may use at all, independent of what is free on them.
// Pure; called once for all job classes that have the same requirements on node names and features.
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

// Ascending and immutable; copies share the content.
class NodeList {
 public:
  NodeList() : NodeList({}, 0) {}
  // `of`: number of nodes of the cluster.
  NodeList(std::vector<NodeIndex> nodes, std::size_t of) {
    Bitset bits(of);
    for (const NodeIndex at : nodes) bits.set(at);
    content_ = std::make_shared<const Content>(Content{std::move(nodes), std::move(bits)});
  }
  const NodeIndex* begin() const { return content_->nodes.data(); }
  const NodeIndex* end() const { return begin() + size(); }
  const NodeIndex* data() const { return begin(); }
  std::size_t size() const { return content_->nodes.size(); }
  bool empty() const { return content_->nodes.empty(); }
  // Valid as long as a copy lives.
  const Bitset& bits() const { return content_->bits; }

 private:
  struct Content {
    std::vector<NodeIndex> nodes;
    Bitset bits;
  };
  std::shared_ptr<const Content> content_;
};

struct Candidates {
  // Nodes that the job could use if they were up: in the partition, with the features, not
  // excluded.
  NodeList members;
  // Of these: up, registered, and no launch of the job failed on them.
  NodeList usable;
  // Like `usable`, with the nodes on which a launch of the job failed.
  NodeList fallback;
  // The nodes of -w, ascending.
  std::vector<NodeIndex> required;
  // Why no node can ever be used, for example a required node that is not a member.
  std::string problem;
};

Candidates filter(const Job& job, const Partition& partition, ClusterIndex& index);

}  // namespace ares::core::sched
