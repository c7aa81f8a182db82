#include "sim/database.h"

#include <utility>

#include "core/job/apply/apply.h"
#include "core/state/indexes.h"
#include "sim/observer.h"
#include "store/journal/images.h"

namespace ares::sim {
namespace {

tl::unexpected<Error> away() {
  return fail(ErrorCode::unavailable, "the database is away");
}

}  // namespace

Database::Database(Stage& stage) : stage_(stage) {
  rows_.cluster = replayed_.cluster = ClusterId(1);
}

void Database::stop() {
  if (!up_) return;
  stage_.note("database stops");
  up_ = false;
  ++generation_;
}

void Database::start() {
  if (up_) return;
  stage_.note("database starts");
  up_ = true;
}

void Database::cut_off(std::optional<Life> controller) {
  if (controller || cut_off_)
    stage_.note(controller ? "database out of reach" : "database in reach",
                controller ? controller->slot : cut_off_->slot);
  cut_off_ = controller;
}

void Database::remember(const Event& event) {
  if (std::holds_alternative<Submitted>(event.body)) ++submissions_;
  // Includes jobs that end and are removed within one batch and therefore have no image.
  if (const auto* e = std::get_if<Ended>(&event.body)) last_states_[e->key] = e->state;
  if (const auto* e = std::get_if<Started>(&event.body)) started_.insert(e->attempt);
  if (const auto* e = std::get_if<NodeFenced>(&event.body)) fenced_.insert(e->attempt);
}

void Database::write(const store::Batch& batch) {
  for (const auto& event : batch.events) {
    if (event->lsn != lsn().next()) throw Violation{"the journal would have a gap"};
    events_.push_back(event);
    core::apply(replayed_, *event);
    remember(*event);
    stage_.observer->journaled(*event, replayed_);
    stage_.note("event", event->lsn.value(), event->body.index(),
                [&] { return stage_.observer->describe(*event); });
  }
  if (batch.last != lsn()) throw Violation{"a batch's last lsn is not that of its last event"};
  for (const auto& job : batch.jobs) {
    rows_.jobs.set(job->key, job);
    last_states_[job->key] = job->state;
  }
  for (const JobKey& key : batch.forgotten) rows_.jobs.erase(key);
  for (const Attempt& attempt : batch.attempts) attempts_.insert_or_assign(attempt.key, attempt);
  if (batch.replace_nodes) {
    rows_.nodes = {};
    rows_.node_ids = {};
  }
  for (const NodeId id : batch.removed_nodes) {
    if (const Node* node = rows_.nodes.find(id)) {
      const std::string name = node->name;
      rows_.node_ids.erase(name);
    }
    rows_.nodes.erase(id);
  }
  for (const auto& node : batch.nodes) {
    rows_.nodes.set(node->id, node);
    rows_.node_ids.set(node->name, node->id);
  }
  if (batch.replace_partitions) rows_.partitions = {};
  for (const auto& partition : batch.partitions) rows_.partitions.set(partition->name, partition);
  for (const RecordKey& key : batch.removed_records) rows_.accounting.erase(key);
  for (const auto& record : batch.records) rows_.accounting.set(key_of(*record), record);
  for (const AssociationId id : batch.removed_usage) rows_.usage.erase(id);
  for (const auto& usage : batch.usage) rows_.usage.set(usage->id, usage);
  store::put_evictions(batch, rows_);
  for (const Tres& tres : batch.tres) rows_.tres.set(tres.name, tres.id);
  for (const Request& request : batch.requests) rows_.requests.set(request.key, request);
  for (const RequestKey& key : batch.expired) rows_.requests.erase(key);
  for (const Blob& blob : batch.blobs) blobs_.emplace(blob.id, blob.content);
  rows_.next_job_id = batch.next_job_id;
  rows_.next_node_id = batch.next_node_id;
  rows_.next_record_id = batch.next_record_id;
  rows_.usage_since = batch.usage_since;
  rows_.now = batch.now;
  rows_.activated_at = batch.activated_at;
  rows_.lease = batch.lease;
  rows_.old_leases_end = batch.old_leases_end;
  rows_.config_hash = batch.config_hash;
  rows_.epoch = replayed_.epoch;
  rows_.lsn = lsn();
}

ClusterState Database::load() const {
  ClusterState state = rows_;
  rebuild_indexes(state);
  return state;
}

void Database::compare_rows() const {
  if (!(load() == replayed_))
    throw Violation{"the rows differ from what a replay of the journal gives: " +
                    difference(load(), replayed_)};
}

void DatabaseLink::boundary() {
  db_.stage_.boundaries.at(Actor::controller, process_, Boundaries::kNoMachine);
}

Result<store::Opened> DatabaseLink::take_epoch() {
  boundary();
  if (!reachable()) return away();
  db_.epoch_ = db_.epoch_.next();
  epoch_ = db_.epoch_;
  generation_ = db_.generation_;
  db_.stage_.note("epoch", epoch_.value());
  boundary();
  store::Opened opened;
  opened.epoch = epoch_;
  opened.system = "virtual";
  opened.state.lsn = db_.lsn();
  opened.state.epoch = epoch_;
  return opened;
}

Result<store::Opened> DatabaseLink::open() {
  auto opened = take_epoch();
  if (!opened) return opened;
  db_.holder_ = process_;
  db_.compare_rows();
  opened->state = db_.load();
  opened->state.epoch = epoch_;
  return opened;
}

Result<store::Opened> DatabaseLink::reopen() {
  if (reachable() && db_.holder_ != process_)
    return fail(ErrorCode::stale, "another controller took over in between");
  return take_epoch();
}

Result<store::CommitOutcome> DatabaseLink::commit(const store::Batch& batch) {
  boundary();
  if (!connected()) return store::CommitOutcome::doubt;
  if (db_.stage_.boundaries.reached(Actor::database)) {
    db_.stage_.observer->database_dies();
    return store::CommitOutcome::doubt;
  }
  const bool breaks = db_.stage_.random.per_mille(db_.doubt_);
  if (breaks && db_.stage_.random.percent(50)) {  // before it arrived
    db_.stage_.note("doubt, lost", batch.last.value());
    generation_ = ~0u;
    return store::CommitOutcome::doubt;
  }
  if (epoch_ != db_.epoch_) return fail(ErrorCode::stale, "another controller has taken over");
  db_.write(batch);
  boundary();
  if (db_.stage_.boundaries.reached(Actor::database)) {
    db_.stage_.observer->database_dies();
    return store::CommitOutcome::doubt;
  }
  if (breaks) {  // after it arrived
    db_.stage_.note("doubt, written", batch.last.value());
    generation_ = ~0u;
    return store::CommitOutcome::doubt;
  }
  return store::CommitOutcome::committed;
}

Result<bool> DatabaseLink::contains(Lsn lsn) {
  boundary();
  if (!connected()) return away();
  if (epoch_ != db_.epoch_) return fail(ErrorCode::stale, "another controller has taken over");
  return lsn <= db_.lsn();
}

Result<std::shared_ptr<const std::string>> DatabaseLink::blob(const BlobId& id) {
  if (!connected()) return away();
  const auto found = db_.blobs_.find(id);
  if (found == db_.blobs_.end()) return fail(ErrorCode::not_found, "no such blob");
  return found->second;
}

}  // namespace ares::sim
