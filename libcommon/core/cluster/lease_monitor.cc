#include "core/cluster/lease_monitor.h"

#include <algorithm>

namespace ares::core {

Time silent_at(const ClusterState& state, const Policy& policy, const Node& node, Time last_heard) {
  const Time since =
      std::max({last_heard, state.activated_at, node.registered_at.value_or(Time{})});
  return std::max(since + slow_clock(policy.lease), state.old_leases_end) + policy.kill_allowance;
}

void LeaseMonitor::heard(NodeId node, Time at) {
  Time& last = heard_[node];
  last = std::max(last, at);
}

std::optional<Time> LeaseMonitor::last_heard(NodeId node) const {
  const auto found = heard_.find(node);
  return found == heard_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<NodeSilent> LeaseMonitor::due(const ClusterState& state, const Policy& policy,
                                          Time now) const {
  std::vector<NodeSilent> out;
  state.nodes.for_each([&](NodeId id, const Node& node) {
    if (node.contact != Contact::registered) return;
    const Time last = last_heard(id).value_or(Time{});
    if (silent_at(state, policy, node, last) <= now) out.push_back({id, last});
  });
  return out;
}

std::optional<Time> LeaseMonitor::next(const ClusterState& state, const Policy& policy) const {
  std::optional<Time> earliest;
  state.nodes.for_each([&](NodeId id, const Node& node) {
    if (node.contact != Contact::registered) return;
    const Time at = silent_at(state, policy, node, last_heard(id).value_or(Time{}));
    if (!earliest || at < *earliest) earliest = at;
  });
  return earliest;
}

}  // namespace ares::core
