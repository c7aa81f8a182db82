// Events about the cluster as a whole: epochs, configuration, interned names, answered requests.
#include <algorithm>
#include <set>

#include "core/cluster/inventory.h"
#include "core/job/records.h"

namespace ares::core {

void apply_bookkeeping(ClusterState& state, const ControllerActivated& e, Stamp s) {
  state.epoch = e.epoch;
  state.activated_at = s.at;
  state.next_job_id = std::max(state.next_job_id, e.next_job_id);
}

void apply_bookkeeping(ClusterState& state, const ConfigApplied& e, Stamp s) {
  state.config_hash = e.hash;
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
    const bool same = found && node.configured == c.inventory;
    if (same) continue;
    node.id = c.id;
    node.name = c.name;
    node.configured = c.inventory;
    // What a registered node really has is told again when it registers next; until then no more than it was known to have.
    node.inventory =
        node.contact == Contact::never ? c.inventory : in_force(c.inventory, node.inventory);
    put_node(state, std::move(node), s.lsn);
  }

  // A node that left the configuration goes once nothing is charged to it (no partition names it, so nothing starts there).
  std::vector<std::pair<NodeId, std::string>> gone;
  state.nodes.for_each([&](NodeId id, const Node& node) {
    if (!configured.contains(id) && node.charges.empty()) gone.emplace_back(id, node.name);
  });
  for (const auto& [id, name] : gone) {
    state.nodes.erase(id);
    state.node_ids.erase(name);
  }
}

void apply_bookkeeping(ClusterState& state, const TresDefined& e, Stamp) {
  state.tres.set(e.tres.name, e.tres.id);
}

void apply_bookkeeping(ClusterState& state, const RequestRecorded& e, Stamp) {
  if (const Request* before = state.requests.find(e.request.key)) {
    state.request_ages.erase({before->expires, e.request.key});
  }
  state.requests.set(e.request.key, e.request);
  state.request_ages.set({e.request.expires, e.request.key}, Lsn{});
}

void apply_bookkeeping(ClusterState& state, const RequestExpired& e, Stamp) {
  const Request* request = state.requests.find(e.key);
  if (!request) return;
  state.request_ages.erase({request->expires, e.key});
  state.requests.erase(e.key);
}

}  // namespace ares::core
