#include "store/journal/row_images.h"

#include "store/journal/node_events.h"

#include <set>
#include <utility>

namespace ares::store {
namespace {

// Collects the records that a batch changed. There is one overload for each event, so that a new
// event does not compile without one.
struct ChangedRecords {
  std::set<JobKey> jobs;
  std::set<NodeId> nodes;
  std::set<JobKey> charged;          // jobs whose charges changed on all of their nodes
  bool configuration = false;        // all nodes and partitions changed
  std::set<std::string> partitions;  // by name
  std::set<std::string> reservations;
  std::set<RecordKey> records;  // accounting records
  std::set<AssociationId> usage;
  bool evictions = false;
  std::set<NodeId> standing;  // nodes whose availability or size may have changed
  bool all_history = false;
  std::vector<Tres> tres;
  std::set<RequestKey> requests;
  std::vector<AuditEntry> audit;

  void job(const JobKey& key) {
    jobs.insert(key);
    // A change of a task changes the counters of its array.
    if (!key.task.is_none()) jobs.insert(JobKey{key.job, {}});
  }

  void node(NodeId id) {
    nodes.insert(id);
    standing.insert(id);
  }

  void operator()(const ControllerActivated&) { all_history = true; }
  void operator()(const ConfigApplied&) { configuration = all_history = true; }
  void operator()(const TresDefined& e) { tres.push_back(e.tres); }
  void operator()(const Submitted& e) { job(e.key); }
  void operator()(const TaskSplit& e) { job(e.key); }
  void operator()(const Held& e) { job(e.key); }
  void operator()(const Released& e) { job(e.key); }
  void operator()(const Modified& e) { job(e.key); }
  void operator()(const DependencyMet& e) { job(e.key); }
  void operator()(const DependencyFailed& e) { job(e.key); }
  void operator()(const Allocated& e) {
    job(e.key);
    for (const auto& share : e.nodes) nodes.insert(share.node);
  }
  void operator()(const NodeReady& e) { job(e.attempt.job); }
  void operator()(const Started& e) { job(e.attempt.job); }
  void operator()(const NodeRunning& e) { job(e.attempt.job); }
  void operator()(const LaunchFailed& e) { job(e.attempt.job); }
  void operator()(const EndingBegan& e) { job(e.attempt.job); }
  void operator()(const BatchFinished& e) { job(e.attempt.job); }
  void operator()(const NodeReleased& e) { job(e.attempt.job), nodes.insert(e.node); }
  void operator()(const NodeFenced& e) { job(e.attempt.job), nodes.insert(e.node); }
  void operator()(const ChargeCleared& e) { job(e.attempt.job), nodes.insert(e.node); }
  void operator()(const Ended& e) { job(e.key); }
  void operator()(const Requeued& e) { job(e.key); }
  void operator()(const Signalled&) {}
  void operator()(const ExpediteBegan& e) { job(e.attempt.job); }
  void operator()(const ExpediteExpired& e) { job(e.key); }
  void operator()(const CheckpointCommitted& e) { job(e.attempt.job); }
  void operator()(const CheckpointRestored& e) { job(e.attempt.job); }
  void operator()(const Forgotten& e) { job(e.key); }
  void operator()(const NodeRegistered& e) { node(e.id); }
  void operator()(const NodeAdminSet& e) { node(e.id); }
  void operator()(const NodeLost& e) { node(e.id); }
  void operator()(const NodeGuardSet& e) { nodes.insert(e.id); }
  void operator()(const NodeRebootSet& e) { nodes.insert(e.id); }
  void operator()(const NodeJoined& e) {
    node(e.id);
    partitions.insert(e.partitions.begin(), e.partitions.end());
  }
  void operator()(const NodeLeft& e) {
    node(e.id);
    partitions.insert(e.partitions.begin(), e.partitions.end());
  }
  void operator()(const LateResult&) {}
  void operator()(const RequestRecorded& e) { requests.insert(e.request.key); }
  void operator()(const RequestExpired& e) { requests.insert(e.key); }
  void operator()(const Audited& e) { audit.push_back(e.entry); }
  void operator()(const PlanPass&) {}
  void operator()(const StepsReported&) {}  // its rows are written from the event
  void operator()(const AccrualBegan& e) { job(e.key); }
  void operator()(const TimeNoticed& e) { job(e.attempt.job); }
  void operator()(const ReservationSet& e) { reservations.insert(e.reservation.name); }
  void operator()(const ReservationRemoved& e) { reservations.insert(e.name); }
  void operator()(const UsageCharged& e) {
    usage.insert(e.usage.id);
    if (e.of_qos) usage.insert(e.of_qos->id);
    if (e.of_wckey) usage.insert(e.of_wckey->id);
    if (e.of_partition_qos) usage.insert(e.of_partition_qos->id);
  }
  void operator()(const UsageSet& e) {
    for (const AssociationUsage& one : e.set) usage.insert(one.id);
    usage.insert(e.gone.begin(), e.gone.end());
  }
  void operator()(const AccountingChanged& e) {
    for (const AccountingRecord& record : e.set) records.insert(key_of(record));
    records.insert(e.removed.begin(), e.removed.end());
  }
  void operator()(const Earmarked& e) {
    job(e.key);
    evictions = true;
  }
  // A node that released the job earlier in the batch is recorded by that event.
  void operator()(const Suspended& e) { job(e.attempt.job), charged.insert(e.attempt.job); }
  void operator()(const Resumed& e) { job(e.attempt.job), charged.insert(e.attempt.job); }
  void operator()(const PartitionModified& e) { partitions.insert(e.partition.name); }
};

// Status of nodes and reservations after the batch, where it may have changed.
void fill_history(const ChangedRecords& changed, const ClusterState& after, Batch& batch) {
  batch.all_history = changed.all_history;
  if (changed.all_history) {
    after.nodes.for_each(
        [&](NodeId id, const Node&) { batch.node_history.push_back(after.nodes.share(id)); });
    after.reservations.for_each([&](const std::string& name, const Reservation&) {
      batch.reservation_history.push_back(after.reservations.share(name));
    });
    return;
  }
  for (const NodeId id : changed.standing)
    if (auto node = after.nodes.share(id)) batch.node_history.push_back(std::move(node));
  batch.reservation_history = batch.reservations;
}

}  // namespace

Batch make_batch(std::vector<std::shared_ptr<const Event>> events, const ClusterState& after,
                 std::vector<Attempt> attempts, std::vector<Blob> blobs) {
  ChangedRecords changed;
  for (const auto& event : events) std::visit(changed, event->body);

  Batch batch;
  batch.epoch = after.epoch;
  batch.first = events.front()->lsn;
  batch.last = events.back()->lsn;
  batch.events = std::move(events);
  for (const auto& key : changed.jobs) {
    if (auto job = after.jobs.share(key))
      batch.jobs.push_back(std::move(job));
    else
      batch.forgotten.push_back(key);
  }
  for (const JobKey& key : changed.charged)
    if (const Job* job = after.jobs.find(key); job && job->allocation)
      for (const NodeShare& share : job->allocation->nodes) changed.nodes.insert(share.node);
  batch.attempts = std::move(attempts);
  if (changed.configuration) {
    batch.replace_nodes = true;
    batch.replace_partitions = true;
    after.nodes.for_each(
        [&](NodeId id, const Node&) { batch.nodes.push_back(after.nodes.share(id)); });
    after.partitions.for_each([&](const std::string& name, const Partition&) {
      batch.partitions.push_back(after.partitions.share(name));
    });
  } else {
    for (const auto id : changed.nodes) {
      if (auto node = after.nodes.share(id))
        batch.nodes.push_back(std::move(node));
      else
        batch.removed_nodes.push_back(id);
    }
    for (const std::string& name : changed.partitions)
      if (auto partition = after.partitions.share(name))
        batch.partitions.push_back(std::move(partition));
  }
  for (const std::string& name : changed.reservations) {
    if (auto reservation = after.reservations.share(name))
      batch.reservations.push_back(std::move(reservation));
    else
      batch.removed_reservations.push_back(name);
  }
  for (const AssociationId id : changed.usage) {
    if (auto usage = after.usage.share(id))
      batch.usage.push_back(std::move(usage));
    else
      batch.removed_usage.push_back(id);
  }
  for (const RecordKey& key : changed.records) {
    if (auto record = after.accounting.share(key))
      batch.records.push_back(std::move(record));
    else
      batch.removed_records.push_back(key);
  }
  fill_history(changed, after, batch);
  if (changed.evictions) {
    after.evictions.for_each_from({batch.events.front()->at, AttemptKey{}},
                                  [&](const EvictionKey& key, UserId user) {
                                    batch.evictions.emplace_back(key, user);
                                    return true;
                                  });
    after.evictions.for_each_from({Time::min(), AttemptKey{}},
                                  [&](const EvictionKey& first, UserId) {
                                    batch.evictions_from = first.first;
                                    return false;
                                  });
  }
  batch.tres = std::move(changed.tres);
  for (const auto& key : changed.requests) {
    if (const Request* request = after.requests.find(key))
      batch.requests.push_back(*request);
    else
      batch.expired.push_back(key);
  }
  batch.audit = std::move(changed.audit);
  batch.node_events = node_events_of(batch.events, after);
  batch.blobs = std::move(blobs);
  batch.next_job_id = after.next_job_id;
  batch.next_node_id = after.next_node_id;
  batch.next_record_id = after.next_record_id;
  batch.usage_since = after.usage_since;
  batch.now = after.now;
  batch.activated_at = after.activated_at;
  batch.lease = after.lease;
  batch.old_leases_end = after.old_leases_end;
  batch.config_hash = after.config_hash;
  return batch;
}

}  // namespace ares::store
