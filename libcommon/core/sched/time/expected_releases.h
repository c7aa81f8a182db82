// ExpectedReleases: when each node gets back what is charged on it. Kept from pass to pass; a node
// is read again only if it or one of its jobs changed. Owned by a Planner or by the maker of a
// Profile; not thread-safe.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "core/sched/index/cluster_index.h"
#include "model/engine/state.h"

namespace ares::core::sched {

// When the attempt of a charge is expected to release its resources, as far as the state shows.
std::optional<Time> expected_end(const ClusterState& state, const Charge& charge, Time now);

class ExpectedReleases {
 public:
  // The releases of one node, ascending end. A charge that is past its end, or is ending, is
  // released immediately: the reader raises such ends to the moment after its own current time.
  struct NodeReleases {
    std::vector<Time> ends;             // Time::max(): not known
    std::vector<std::int64_t> amounts;  // one row of the index's stride for each end
    // When the last sharer of a GPU releases its part, and so the whole GPU.
    std::vector<std::pair<GpuIndex, Time>> shared;
    // Valid only at this time, because an attempt has not begun yet.
    bool time_dependent = false;
  };

  // Nodes whose releases changed.
  const NodeChangeLog& changes() const { return changes_; }

  // Drops what is out of date. The index must be the same object, updated to `after`.
  void update(const ClusterState& before, const ClusterState& after, const ClusterIndex& index);
  // Releases of the node in the state that the index shows. Valid until the next update.
  const NodeReleases& of(NodeIndex node, const ClusterState& state, const ClusterIndex& index,
                         Time now);

 private:
  struct Entry {
    NodeReleases node;
    bool known = false;
    // A time-dependent entry is valid only at that time.
    Time read_at{};
  };

  void read(Entry& entry, NodeIndex node, const ClusterState& state, const ClusterIndex& index,
            Time now);

  std::vector<Entry> nodes_;  // by NodeIndex
  NodeChangeLog changes_;
};

}  // namespace ares::core::sched
