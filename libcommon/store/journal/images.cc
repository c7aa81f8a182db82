#include "store/journal/images.h"

namespace ares::store {

void put_evictions(const Batch& batch, ClusterState& state) {
  if (batch.evictions.empty()) return;
  std::vector<EvictionKey> old;
  state.evictions.for_each([&](const EvictionKey& key, UserId) {
    if (key.first < batch.evictions_from) old.push_back(key);
  });
  for (const EvictionKey& key : old) state.evictions.erase(key);
  for (const auto& [key, user] : batch.evictions) state.evictions.set(key, user);
}

void apply_images(const Batch& batch, ClusterState& state) {
  for (const auto& job : batch.jobs) state.jobs.set(job->key, job);
  for (const JobKey& key : batch.forgotten) state.jobs.erase(key);
  if (batch.replace_nodes) {
    state.nodes = {};
    state.node_ids = {};
  }
  for (const NodeId id : batch.removed_nodes) {
    if (const Node* node = state.nodes.find(id)) {
      const std::string name = node->name;
      state.node_ids.erase(name);
    }
    state.nodes.erase(id);
  }
  for (const auto& node : batch.nodes) {
    state.nodes.set(node->id, node);
    state.node_ids.set(node->name, node->id);
  }
  if (batch.replace_partitions) state.partitions = {};
  for (const auto& partition : batch.partitions) state.partitions.set(partition->name, partition);
  for (const std::string& name : batch.removed_reservations) state.reservations.erase(name);
  for (const auto& reservation : batch.reservations)
    state.reservations.set(reservation->name, reservation);
  for (const RecordKey& key : batch.removed_records) state.accounting.erase(key);
  for (const auto& record : batch.records) state.accounting.set(key_of(*record), record);
  for (const AssociationId id : batch.removed_usage) state.usage.erase(id);
  for (const auto& usage : batch.usage) state.usage.set(usage->id, usage);
  put_evictions(batch, state);
  for (const Tres& tres : batch.tres) state.tres.set(tres.name, tres.id);
  for (const Request& request : batch.requests) state.requests.set(request.key, request);
  for (const RequestKey& key : batch.expired) state.requests.erase(key);
  state.lsn = batch.last;
  state.now = batch.now;
  state.activated_at = batch.activated_at;
  state.lease = batch.lease;
  state.old_leases_end = batch.old_leases_end;
  state.next_job_id = batch.next_job_id;
  state.next_node_id = batch.next_node_id;
  state.next_record_id = batch.next_record_id;
  state.usage_since = batch.usage_since;
  state.config_hash = batch.config_hash;
}

}  // namespace ares::store
