// Events about nodes and partitions.
#include <algorithm>

#include "core/job/apply/records.h"
#include "core/state/indexes.h"

namespace ares::core {

void apply_node(ClusterState& state, const NodeRegistered& e, Stamp s) {
  change_node(state, e.id, s.lsn, [&](Node& node) {
    node.incarnation_tag = e.incarnation_tag;
    node.incarnation = e.incarnation;
    node.inventory = e.inventory;
    node.reported = e.reported;
    node.can_freeze = e.can_freeze;
    node.version_text = e.version;
    node.address = e.address;
    node.enforced = e.enforced;
    node.contact = Contact::registered;
    node.registered_at = s.at;
    node.silent_since.reset();
    node.machine_gone = false;
  });
}

void apply_node(ClusterState& state, const NodeAdminSet& e, Stamp s) {
  change_node(state, e.id, s.lsn, [&](Node& node) {
    // An operator who resumes a node knows of a fault only if it was the reason that was shown.
    const bool knows = e.admin != AdminState::up || node.reason == node.guard.fault;
    if (e.by && !knows) node.guard.fault.clear();
    node.admin = e.admin;
    node.reason = e.reason;
    node.reason_by = e.by;
    node.reason_at = e.admin == AdminState::up ? std::nullopt : std::optional(s.at);
    // What an operator decides replaces what the controller had against the node. A fault that it
    // reports is remembered, so that the same one does not count again.
    if (e.by) node.guard = NodeGuard{.fault = std::move(node.guard.fault)};
  });
}

void apply_node(ClusterState& state, const NodeGuardSet& e, Stamp s) {
  change_node(state, e.id, s.lsn, [&](Node& node) { node.guard = e.guard; });
}

void apply_node(ClusterState& state, const NodeRebootSet& e, Stamp s) {
  change_node(state, e.id, s.lsn, [&](Node& node) { node.reboot = e.reboot; });
}

void apply_node(ClusterState& state, const NodeJoined& e, Stamp s) {
  state.next_node_id = std::max(state.next_node_id, e.id.next());
  state.node_ids.set(e.name, e.id);
  const Node* found = state.nodes.find(e.id);
  Node node = found ? *found : Node{};
  node.id = e.id;
  node.name = e.name;
  node.joined = e.partitions;
  node.leaving = false;
  put_node(state, std::move(node), s.lsn);
  add_to_partitions(state, e.name, e.partitions);
}

void apply_node(ClusterState& state, const NodeLeft& e, Stamp s) {
  const Node* node = state.nodes.find(e.id);
  if (!node) return;
  const std::string name = node->name;
  for (const std::string& in : e.partitions) {
    const Partition* found = state.partitions.find(in);
    if (!found) continue;
    Partition partition = *found;
    std::erase(partition.nodes, name);
    state.members.erase({in, name});
    state.partitions.set(in, std::move(partition));
  }
  change_node(state, e.id, s.lsn, [](Node& left) { left.leaving = true; });
}

void apply_node(ClusterState& state, const NodeLost& e, Stamp s) {
  change_node(state, e.id, s.lsn, [&](Node& node) {
    node.contact = Contact::lost;
    if (e.since != Time{}) node.silent_since = e.since;
    node.machine_gone = e.machine_gone;
  });
}

void apply_node(ClusterState& state, const PartitionModified& e, Stamp) {
  if (const Partition* before = state.partitions.find(e.partition.name))
    for (const std::string& node : before->nodes) state.members.erase({before->name, node});
  put_partition(state, e.partition);
}

}  // namespace ares::core
