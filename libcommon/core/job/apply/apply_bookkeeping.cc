// Events about the cluster as a whole: epochs, configuration, interned names, answered requests.
#include <algorithm>
#include <set>

#include "core/cluster/inventory.h"
#include "core/cluster/lease_monitor.h"
#include "core/job/apply/records.h"
#include "core/state/indexes.h"

namespace ares::core {

void apply_bookkeeping(ClusterState& state, const ControllerActivated& e, Stamp s) {
  state.epoch = e.epoch;
  state.activated_at = s.at;
  state.next_job_id = std::max(state.next_job_id, e.next_job_id);
}

void apply_bookkeeping(ClusterState& state, const ConfigApplied& e, Stamp s) {
  state.config_hash = e.hash;
  // Nodes get the new duration before any later answer, so no lease is renewed with the old one.
  if (e.lease < state.lease)
    state.old_leases_end = std::max(state.old_leases_end, s.at + slow_clock(state.lease));
  state.lease = e.lease;
  state.partitions = {};
  state.members = {};
  for (const Partition& partition : e.partitions) put_partition(state, partition);

  std::set<NodeId> configured;
  for (const ConfigApplied::ConfiguredNode& c : e.nodes) {
    configured.insert(c.id);
    state.next_node_id = std::max(state.next_node_id, c.id.next());
    state.node_ids.set(c.name, c.id);
    const Node* found = state.nodes.find(c.id);
    Node node = found ? *found : Node{};
    const bool same =
        found && node.configured == c.inventory && !node.leaving && node.joined.empty();
    if (same) continue;
    node.leaving = false;
    node.joined.clear();
    node.id = c.id;
    node.name = c.name;
    configure(node, c.inventory);
    put_node(state, std::move(node), s.lsn);
  }

  // Jobs on a node that left the configuration run to their end. No partition has it: none start.
  std::vector<NodeId> leaving;
  std::vector<NodeId> joined;
  state.nodes.for_each([&](NodeId id, const Node& node) {
    if (configured.contains(id) || node.leaving) return;
    (node.joined.empty() ? leaving : joined).push_back(id);
  });
  for (const NodeId id : joined) {
    const Node& node = *state.nodes.find(id);
    add_to_partitions(state, node.name, node.joined);
  }
  for (const NodeId id : leaving)
    change_node(state, id, s.lsn, [](Node& node) { node.leaving = true; });
}

void apply_bookkeeping(ClusterState& state, const TresDefined& e, Stamp) {
  state.tres.set(e.tres.name, e.tres.id);
}

void apply_bookkeeping(ClusterState& state, const AccountingChanged& e, Stamp s) {
  for (const RecordKey& key : e.removed) state.accounting.erase(key);
  for (AccountingRecord record : e.set) {
    std::visit([&](auto& changed) { changed.changed = s.lsn; }, record);
    const RecordKey key = key_of(record);
    state.accounting.set(key, std::move(record));
  }
  state.next_record_id = e.next_record_id;
}

void apply_bookkeeping(ClusterState& state, const UsageSet& e, Stamp) {
  for (const AssociationId id : e.gone) state.usage.erase(id);
  for (const AssociationUsage& usage : e.set) state.usage.set(usage.id, usage);
  state.usage_since = std::max(state.usage_since, e.since);
}

void apply_bookkeeping(ClusterState& state, const RequestRecorded& e, Stamp) {
  put_request(state, e.request);
}

void apply_bookkeeping(ClusterState& state, const RequestExpired& e, Stamp) {
  drop_request(state, e.key);
}

}  // namespace ares::core
