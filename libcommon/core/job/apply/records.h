// How apply() writes records: the only place that updates the indexes and the counters of arrays.
// Internal to core/job; used by the thread that applies events.
#pragma once

#include <utility>

#include "model/engine/event.h"
#include "model/engine/state.h"

namespace ares::core {

// Replaces (or adds) the record and brings the indexes and the counters of its array up to date.
void put_job(ClusterState& state, Job after, Lsn lsn);
// Removes the record and all its index entries.
void drop_job(ClusterState& state, const JobKey& key);
// Stores the node. One that left the configuration is removed once nothing is charged to it.
// Adds the node to those of these partitions that exist and lack it.
void add_to_partitions(ClusterState& state, const std::string& node,
                       const std::vector<std::string>& partitions);
void put_node(ClusterState& state, Node after, Lsn lsn);

// Changes a copy of the record and stores it. Does nothing if there is no such record.
template <class Change>
void change_job(ClusterState& state, const JobKey& key, Lsn lsn, Change&& change) {
  const Job* found = state.jobs.find(key);
  if (!found) return;
  Job job = *found;
  change(job);
  put_job(state, std::move(job), lsn);
}
template <class Change>
void change_node(ClusterState& state, NodeId id, Lsn lsn, Change&& change) {
  const Node* found = state.nodes.find(id);
  if (!found) return;
  Node node = *found;
  change(node);
  put_node(state, std::move(node), lsn);
}

// One function for each group of events. apply() has checked that the table accepts the event.
struct Stamp {
  Lsn lsn;
  Time at{};
};
void apply_job(ClusterState& state, const Submitted& e, Stamp s);
void apply_job(ClusterState& state, const TaskSplit& e, Stamp s);
void apply_job(ClusterState& state, const Held& e, Stamp s);
void apply_job(ClusterState& state, const Released& e, Stamp s);
void apply_job(ClusterState& state, const Modified& e, Stamp s);
void apply_job(ClusterState& state, const DependencyMet& e, Stamp s);
void apply_job(ClusterState& state, const DependencyFailed& e, Stamp s);
void apply_job(ClusterState& state, const Ended& e, Stamp s);
void apply_job(ClusterState& state, const Requeued& e, Stamp s);
void apply_job(ClusterState& state, const Forgotten& e, Stamp s);
void apply_job(ClusterState& state, const AccrualBegan& e, Stamp s);
void apply_job(ClusterState& state, const Earmarked& e, Stamp s);
void apply_job(ClusterState& state, const ExpediteExpired& e, Stamp s);

void apply_attempt(ClusterState& state, const Allocated& e, Stamp s);
void apply_attempt(ClusterState& state, const NodeReady& e, Stamp s);
void apply_attempt(ClusterState& state, const Started& e, Stamp s);
void apply_attempt(ClusterState& state, const NodeRunning& e, Stamp s);
void apply_attempt(ClusterState& state, const LaunchFailed& e, Stamp s);
void apply_attempt(ClusterState& state, const EndingBegan& e, Stamp s);
void apply_attempt(ClusterState& state, const BatchFinished& e, Stamp s);
void apply_attempt(ClusterState& state, const NodeReleased& e, Stamp s);
void apply_attempt(ClusterState& state, const NodeFenced& e, Stamp s);
void apply_attempt(ClusterState& state, const ChargeCleared& e, Stamp s);
void apply_attempt(ClusterState& state, const TimeNoticed& e, Stamp s);
void apply_attempt(ClusterState& state, const Suspended& e, Stamp s);
void apply_attempt(ClusterState& state, const Resumed& e, Stamp s);
void apply_attempt(ClusterState& state, const ExpediteBegan& e, Stamp s);
void apply_attempt(ClusterState& state, const CheckpointCommitted& e, Stamp s);
void apply_attempt(ClusterState& state, const CheckpointRestored& e, Stamp s);

void apply_node(ClusterState& state, const NodeRegistered& e, Stamp s);
void apply_node(ClusterState& state, const NodeAdminSet& e, Stamp s);
void apply_node(ClusterState& state, const NodeGuardSet& e, Stamp s);
void apply_node(ClusterState& state, const NodeRebootSet& e, Stamp s);
void apply_node(ClusterState& state, const NodeJoined& e, Stamp s);
void apply_node(ClusterState& state, const NodeLeft& e, Stamp s);
void apply_node(ClusterState& state, const NodeLost& e, Stamp s);
void apply_node(ClusterState& state, const PartitionModified& e, Stamp s);

void apply_bookkeeping(ClusterState& state, const ControllerActivated& e, Stamp s);
void apply_bookkeeping(ClusterState& state, const ConfigApplied& e, Stamp s);
void apply_bookkeeping(ClusterState& state, const TresDefined& e, Stamp s);
void apply_bookkeeping(ClusterState& state, const AccountingChanged& e, Stamp s);
void apply_bookkeeping(ClusterState& state, const UsageSet& e, Stamp s);
void apply_bookkeeping(ClusterState& state, const RequestRecorded& e, Stamp s);
void apply_bookkeeping(ClusterState& state, const RequestExpired& e, Stamp s);

}  // namespace ares::core
