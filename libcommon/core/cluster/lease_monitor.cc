#include "core/cluster/lease_monitor.h"

#include <algorithm>

#include "core/cluster/dead_node.h"

namespace ares::core {

Time heard_at(const ClusterState& state, const Node& node, Time last_heard) {
  return std::max({last_heard, state.activated_at, node.registered_at.value_or(Time{})});
}

Time silent_at(const ClusterState& state, const Policy& policy, const Node& node, Time last_heard) {
  const Time since = heard_at(state, node, last_heard);
  return std::max(since + slow_clock(policy.lease), state.old_leases_end) + policy.kill_allowance;
}

std::optional<Time> dead_at(const ClusterState& state, const Policy& policy, const Node& node,
                            Time last_heard) {
  if (node.contact != Contact::lost || policy.dead_node_timeout == Seconds{0}) return std::nullopt;
  // What its agent says meanwhile is not the machine's word.
  if (node.machine_gone) last_heard = node.silent_since.value_or(Time{});
  const Time since = std::max(last_heard, node.silent_since.value_or(state.activated_at));
  return std::max(since + policy.dead_node_timeout, silent_at(state, policy, node, last_heard));
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
    if (node.contact == Contact::never) return;
    const Time last = last_heard(id).value_or(Time{});
    const std::optional<Time> at = node.contact == Contact::lost
                                       ? dead_at(state, policy, node, last)
                                       : silent_at(state, policy, node, last);
    if (!at || *at > now) return;
    if (node.contact == Contact::lost && !is_waited_for(state, node)) return;
    out.push_back({id, last});
  });
  return out;
}

}  // namespace ares::core
