// Events about nodes and partitions.
#include "core/job/apply/records.h"
#include "core/state/indexes.h"

namespace ares::core {

void apply_node(ClusterState& state, const NodeRegistered& e, Stamp s) {
  change_node(state, e.id, s.lsn, [&](Node& node) {
    node.incarnation_tag = e.incarnation_tag;
    node.incarnation = e.incarnation;
    node.inventory = e.inventory;
    node.can_freeze = e.can_freeze;
    node.version_text = e.version;
    node.address = e.address;
    node.enforced = e.enforced;
    node.contact = Contact::registered;
    node.registered_at = s.at;
    node.silent_since.reset();
  });
}

void apply_node(ClusterState& state, const NodeAdminSet& e, Stamp s) {
  change_node(state, e.id, s.lsn, [&](Node& node) {
    node.admin = e.admin;
    node.reason = e.reason;
    node.reason_by = e.by;
    node.reason_at = e.admin == AdminState::up ? std::nullopt : std::optional(s.at);
  });
}

void apply_node(ClusterState& state, const NodeLost& e, Stamp s) {
  change_node(state, e.id, s.lsn, [&](Node& node) {
    node.contact = Contact::lost;
    if (e.since != Time{}) node.silent_since = e.since;
  });
}

void apply_node(ClusterState& state, const PartitionModified& e, Stamp) {
  if (const Partition* before = state.partitions.find(e.partition.name))
    for (const std::string& node : before->nodes) state.members.erase({before->name, node});
  put_partition(state, e.partition);
}

}  // namespace ares::core
