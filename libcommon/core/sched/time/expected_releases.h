// ExpectedReleases: when each node gets back what is charged on it. Kept from pass to pass and read again only for nodes on which, or on
// whose jobs, something has changed. Owned by a Planner (or whoever makes a Profile); not thread-safe.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "core/sched/index/cluster_index.h"
#include "model/engine/state.h"

namespace ares::core::sched {

// When the attempt behind a charge will let go, as far as the state knows.
std::optional<Time> expected_end(const ClusterState& state, const Charge& charge, Time now);

class ExpectedReleases {
 public:
  // One node's, ascending end. What is past its end, or already ending, counts as gone in a moment: the reader lifts such
  // ends to the moment after its own now.
  struct NodeReleases {
    std::vector<Time> ends;             // Time::max() = nobody knows
    std::vector<std::int64_t> amounts;  // a row of the index's stride for each end
    std::vector<std::pair<GpuIndex, Time>>
        shared;  // when the last of its sharers lets go of a GPU, which is when it comes free
    bool time_dependent = false;  // it is so at this time only: something has not begun yet
  };

  // Nodes of which what was told is no longer so.
  const NodeChangeLog& changes() const { return changes_; }

  // Forgets what is no longer so. The index must be the same one, brought up to date.
  void update(const ClusterState& before, const ClusterState& after, const ClusterIndex& index);
  // Of the state that the index shows. Valid until the next update.
  const NodeReleases& of(NodeIndex node, const ClusterState& state, const ClusterIndex& index,
                         Time now);

 private:
  struct Entry {
    NodeReleases node;
    bool known = false;
    Time read_at{};  // it holds then only, if it moves
  };

  void read(Entry& entry, NodeIndex node, const ClusterState& state, const ClusterIndex& index,
            Time now);

  std::vector<Entry> nodes_;  // by NodeIndex
  NodeChangeLog changes_;
};

}  // namespace ares::core::sched
