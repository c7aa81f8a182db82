#include "sim/database.h"

#include <utility>

#include "core/job/apply/apply.h"
#include "core/state/indexes.h"
#include "model/engine/history.h"
#include "sim/observer.h"
#include "store/journal/images.h"

namespace ares::sim {
namespace {

tl::unexpected<Error> away() {
  return fail(ErrorCode::unavailable, "the database is away");
}

}  // namespace

Database::Database(Stage& stage) : stage_(stage) {
  held_.rows.cluster = held_.replayed.cluster = ClusterId(1);
  held_.rows.history = held_.replayed.history = "virtual";
}

void Database::restore(Contents backup) {
  stage_.note("an older database is restored", backup.rows.lsn.value(), lsn().value());
  ++generation_;
  held_ = std::move(backup);
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

void Database::set_full(bool full) {
  if (full != full_) stage_.note(full ? "database without room" : "database with room again");
  full_ = full;
}

void Database::cut_off(std::optional<Life> controller) {
  if (controller || cut_off_)
    stage_.note(controller ? "database out of reach" : "database in reach",
                controller ? controller->slot : cut_off_->slot);
  cut_off_ = controller;
}

void Database::remember(const Event& event) {
  if (std::holds_alternative<Submitted>(event.body)) ++held_.submissions;
  // Includes jobs that end and are removed within one batch and therefore have no image.
  if (const auto* e = std::get_if<Ended>(&event.body)) held_.last_states[e->key] = e->state;
  if (const auto* e = std::get_if<Started>(&event.body)) held_.started.insert(e->attempt);
  if (const auto* e = std::get_if<NodeFenced>(&event.body)) held_.fenced.insert(e->attempt);
}

void Database::write(const store::Batch& batch) {
  Lsn last = lsn();
  for (const auto& event : batch.events) {
    if (event->lsn != last.next()) throw Violation{"the journal would have a gap"};
    last = event->lsn;
    held_.events.emplace(event->lsn, event);
    core::apply(held_.replayed, *event);
    remember(*event);
    stage_.observer->journaled(*event, held_.replayed);
    stage_.note("event", event->lsn.value(), event->body.index(),
                [&] { return stage_.observer->describe(*event); });
  }
  if (batch.last != last) throw Violation{"a batch's last lsn is not that of its last event"};
  for (const auto& job : batch.jobs) {
    held_.rows.jobs.set(job->key, job);
    held_.last_states[job->key] = job->state;
  }
  for (const JobKey& key : batch.forgotten) held_.rows.jobs.erase(key);
  for (const Attempt& attempt : batch.attempts)
    held_.attempts.insert_or_assign(attempt.key, attempt);
  if (batch.replace_nodes) {
    held_.rows.nodes = {};
    held_.rows.node_ids = {};
  }
  for (const NodeId id : batch.removed_nodes) {
    if (const Node* node = held_.rows.nodes.find(id)) {
      const std::string name = node->name;
      held_.rows.node_ids.erase(name);
    }
    held_.rows.nodes.erase(id);
  }
  for (const auto& node : batch.nodes) {
    held_.rows.nodes.set(node->id, node);
    held_.rows.node_ids.set(node->name, node->id);
  }
  if (batch.replace_partitions) held_.rows.partitions = {};
  for (const auto& partition : batch.partitions)
    held_.rows.partitions.set(partition->name, partition);
  for (const RecordKey& key : batch.removed_records) held_.rows.accounting.erase(key);
  for (const auto& record : batch.records) held_.rows.accounting.set(key_of(*record), record);
  for (const AssociationId id : batch.removed_usage) held_.rows.usage.erase(id);
  for (const auto& usage : batch.usage) held_.rows.usage.set(usage->id, usage);
  store::put_evictions(batch, held_.rows);
  for (const Tres& tres : batch.tres) held_.rows.tres.set(tres.name, tres.id);
  for (const Request& request : batch.requests) held_.rows.requests.set(request.key, request);
  for (const RequestKey& key : batch.expired) held_.rows.requests.erase(key);
  for (const Blob& blob : batch.blobs) held_.blobs.emplace(blob.id, blob.content);
  held_.rows.next_job_id = batch.next_job_id;
  held_.rows.next_node_id = batch.next_node_id;
  held_.rows.next_record_id = batch.next_record_id;
  held_.rows.usage_since = batch.usage_since;
  held_.rows.now = batch.now;
  held_.rows.activated_at = batch.activated_at;
  held_.rows.lease = batch.lease;
  held_.rows.old_leases_end = batch.old_leases_end;
  held_.rows.config_hash = batch.config_hash;
  held_.rows.epoch = held_.replayed.epoch;
  held_.rows.lsn = last;
}

ClusterState Database::load() const {
  ClusterState state = held_.rows;
  rebuild_indexes(state);
  return state;
}

void Database::compare_rows() const {
  if (!(load() == held_.replayed))
    throw Violation{"the rows differ from what a replay of the journal gives: " +
                    difference(load(), held_.replayed)};
}

void DatabaseLink::boundary() {
  db_.stage_.boundaries.at(Actor::controller, process_, Boundaries::kNoMachine);
}

Result<store::Opened> DatabaseLink::take_epoch() {
  boundary();
  if (!reachable() || db_.full_) return away();
  db_.held_.epoch = db_.held_.epoch.next();
  epoch_ = db_.held_.epoch;
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

// As take_epoch() of PostgreSQL's does it.
Status DatabaseLink::check_mark() {
  ClusterState& rows = db_.held_.rows;
  store::HighWaterMark found;
  found.system = "virtual";
  found.position = {rows.history, db_.held_.epoch, "", rows.lsn, rows.next_job_id};
  found.next_node_id = rows.next_node_id;
  if (!acceptance_.accept_rollback)
    return acceptance_.seen ? store::check_not_behind(*acceptance_.seen, found, rows.past_histories)
                            : Status();
  const auto seen =
      acceptance_.seen.value_or(store::with_reserve(found, store::kIdsBetweenHeartbeats));
  const store::HighWaterMark raised = store::raised_above(seen, found);
  rows.past_histories.push_back(rows.history);
  if (seen.position.history != rows.history) rows.past_histories.push_back(seen.position.history);
  rows.history = name_history("virtual", raised.position.lsn, "random");
  db_.held_.epoch = raised.position.epoch;
  rows.lsn = raised.position.lsn;
  rows.next_job_id = raised.position.next_job_id;
  rows.next_node_id = raised.next_node_id;
  ClusterState& replayed = db_.held_.replayed;
  replayed.past_histories = rows.past_histories;
  replayed.history = rows.history;
  replayed.lsn = rows.lsn;
  replayed.next_job_id = rows.next_job_id;
  replayed.next_node_id = rows.next_node_id;
  db_.stage_.note("a rollback is accepted", rows.lsn.value());
  return {};
}

Result<store::Opened> DatabaseLink::open() {
  if (reachable() && !db_.full_)
    if (Status newer = check_mark(); !newer) return fail(newer.error());
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
  if (epoch_ != db_.held_.epoch) return fail(ErrorCode::stale, "another controller has taken over");
  if (db_.full_) return fail(ErrorCode::resource_exhausted, "the database's disk is full");
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
  if (epoch_ != db_.held_.epoch) return fail(ErrorCode::stale, "another controller has taken over");
  return lsn <= db_.lsn();
}

Result<std::shared_ptr<const std::string>> DatabaseLink::blob(const BlobId& id) {
  if (!connected()) return away();
  const auto found = db_.held_.blobs.find(id);
  if (found == db_.held_.blobs.end()) return fail(ErrorCode::not_found, "no such blob");
  return found->second;
}

Result<std::string> DatabaseLink::secret() {
  return std::string(32, 's');
}

}  // namespace ares::sim
