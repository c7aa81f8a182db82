// LeaseMonitor: when each node was last heard, which nodes were silent longer than their leases, and
// which of them count as dead. Owned by the engine's driver (controller or simulator), called by its thread only. Not
// part of the state: after a restart each node counts as heard when the controller became active.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "model/engine/command.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// Upper bound of a duration that a node measured: its clock may be up to 5 % slow.
constexpr Duration slow_clock(Duration by_the_node) {
  return by_the_node * 105 / 100;
}

// When the node was last heard, as far as this controller knows: its last message, its registration or
// this controller's activation, whichever is latest.
Time heard_at(const ClusterState& state, const Node& node, Time last_heard);

// When a node's leases have certainly expired: lease + 5 % (its clock may be slow) + kill_allowance
// after heard_at(); not before longer leases of earlier configurations have expired.
Time silent_at(const ClusterState& state, const Policy& policy, const Node& node, Time last_heard);

// When a lost node counts as dead: `dead_node_timeout` after its last message, or after its agent said
// that the machine is gone. A new controller first gives it the time of a lease to come back. None: it is not lost, or never counts as dead.
std::optional<Time> dead_at(const ClusterState& state, const Policy& policy, const Node& node,
                            Time last_heard = {});

class LeaseMonitor {
 public:
  // Any message of the session that is registered for the node. `at`: when it was received.
  void heard(NodeId node, Time at);

  // None if the node was not heard since this controller became active.
  std::optional<Time> last_heard(NodeId node) const;

  // Registered nodes that have been silent too long, and lost ones that count as dead while jobs wait
  // for their word; ascending id. Visits every node once.
  std::vector<NodeSilent> due(const ClusterState& state, const Policy& policy, Time now) const;

 private:
  std::map<NodeId, Time> heard_;
};

}  // namespace ares::core
