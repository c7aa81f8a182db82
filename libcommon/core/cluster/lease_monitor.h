// LeaseMonitor: when each node was last heard, and which have been silent for longer than every lease they may hold.
// Owned by the engine's driver (controller or simulator), called by its thread only. Not state: after a restart every node counts
// as heard when the controller became active, so losing it harms nothing.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "model/engine/command.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// A node's clock may be slow: what it takes for so long lasts at most this by another's.
constexpr Duration slow_clock(Duration by_the_node) {
  return by_the_node * 105 / 100;
}

// When the node, last heard then, has certainly let every lease run out: lease + 5 % (its clock may be slow) + the time it needs to
// freeze or kill, counted from the last message received, its registration or this controller's own activation, whichever is latest.
// Not before the longer leases of a configuration before this one are over.
Time silent_at(const ClusterState& state, const Policy& policy, const Node& node, Time last_heard);

class LeaseMonitor {
 public:
  // Any message of the session that is registered under this name. `at` is when it was received.
  void heard(NodeId node, Time at);

  // Never heard since this controller became active: none.
  std::optional<Time> last_heard(NodeId node) const;

  // Registered nodes past their time, ascending id. Looks at every node once.
  std::vector<NodeSilent> due(const ClusterState& state, const Policy& policy, Time now) const;

  // The earliest time at which due() may return something; none while no node is registered.
  std::optional<Time> next(const ClusterState& state, const Policy& policy) const;

 private:
  std::map<NodeId, Time> heard_;
};

}  // namespace ares::core
