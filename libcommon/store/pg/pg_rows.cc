#include "store/pg/pg_rows.h"

#include <utility>

#include "proto/storage_convert.h"
#include "store/pg/last_of_each.h"
#include "store/pg/pg_accounts.h"
#include "store/pg/pg_attempts.h"
#include "store/pg/pg_history.h"
#include "store/pg/pg_task.h"
#include "store/pg/steps/step_rows.h"

namespace ares::store {
namespace {

using Element = ArrayParam::Element;

constexpr PgStatement kFence{"fence", "SELECT fence($1::bigint, $2::bigint)"};

constexpr PgStatement kJournal{
    "journal",
    "INSERT INTO journal (lsn, epoch, at, kind, version, job_id, task, body) "
    "SELECT lsn, epoch, at, kind, $8::bigint, job_id, task, body FROM unnest("
    "$1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[], $5::bigint[], $6::bigint[], "
    "$7::bytea[]) AS n(lsn, epoch, at, kind, job_id, task, body)"};

constexpr PgStatement kJobInsert{
    "job_insert",
    "INSERT INTO job (job_id, task, own_id, state, script, environment, format, spec, body) "
    "SELECT job_id, task, own_id, state, script, environment, $9::bigint, spec, body FROM unnest("
    "$1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bytea[], $6::bytea[], $7::bytea[], "
    "$8::bytea[]) AS n(job_id, task, own_id, state, script, environment, spec, body) "
    "ON CONFLICT (job_id, task) DO UPDATE SET own_id = EXCLUDED.own_id, state = EXCLUDED.state, "
    "script = EXCLUDED.script, environment = EXCLUDED.environment, format = EXCLUDED.format, "
    "spec = EXCLUDED.spec, body = EXCLUDED.body"};

constexpr PgStatement kJobUpdate{
    "job_update",
    "WITH done AS (UPDATE job SET state = n.state, format = $5::bigint, body = n.body "
    "FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[]) "
    "AS n(job_id, task, state, body) "
    "WHERE job.job_id = n.job_id AND job.task = n.task RETURNING 1) "
    "SELECT expect_rows(count(*), $6::bigint, 'job') FROM done"};

constexpr PgStatement kJobForget{
    "job_forget",
    "DELETE FROM job USING unnest($1::bigint[], $2::bigint[]) AS n(job_id, task) "
    "WHERE job.job_id = n.job_id AND job.task = n.task"};

constexpr PgStatement kNode{
    "node",
    "INSERT INTO node (node_id, name, format, body) "
    "SELECT node_id, name, $4::bigint, body FROM unnest($1::bigint[], $2::text[], $3::bytea[]) "
    "AS n(node_id, name, body) ON CONFLICT (node_id) DO UPDATE SET name = EXCLUDED.name, "
    "format = EXCLUDED.format, body = EXCLUDED.body"};

constexpr PgStatement kNodesClear{"nodes_clear", "DELETE FROM node"};

constexpr PgStatement kNodesGone{"nodes_gone",
                                 "DELETE FROM node WHERE node_id = ANY($1::bigint[])"};

constexpr PgStatement kPartitionsClear{"partitions_clear", "DELETE FROM partition_conf"};

constexpr PgStatement kPartition{
    "partition",
    "INSERT INTO partition_conf (name, format, body) "
    "SELECT name, $3::bigint, body FROM unnest($1::text[], $2::bytea[]) AS n(name, body) "
    "ON CONFLICT (name) DO UPDATE SET format = EXCLUDED.format, body = EXCLUDED.body"};

constexpr PgStatement kReservation{
    "reservation",
    "INSERT INTO reservation_conf (name, format, body) "
    "SELECT name, $3::bigint, body FROM unnest($1::text[], $2::bytea[]) AS n(name, body) "
    "ON CONFLICT (name) DO UPDATE SET format = EXCLUDED.format, body = EXCLUDED.body"};

constexpr PgStatement kReservationsGone{
    "reservations_gone", "DELETE FROM reservation_conf WHERE name = ANY($1::text[])"};

constexpr PgStatement kEvictionsOld{"evictions_old",
                                    "DELETE FROM eviction WHERE at < $1::timestamptz"};

constexpr PgStatement kEviction{
    "eviction",
    "INSERT INTO eviction (at, job_id, task, attempt, uid) SELECT * FROM unnest("
    "$1::timestamptz[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) "
    "ON CONFLICT (at, job_id, task, attempt) DO UPDATE SET uid = EXCLUDED.uid"};

constexpr PgStatement kTres{
    "tres",
    "INSERT INTO tres (tres_id, name) SELECT * FROM unnest($1::bigint[], $2::text[]) "
    "ON CONFLICT (tres_id) DO UPDATE SET name = EXCLUDED.name"};

constexpr PgStatement kRequest{
    "request",
    "INSERT INTO request (uid, id, expires, format, body) "
    "SELECT uid, id, expires, $5::bigint, body FROM unnest("
    "$1::bigint[], $2::bytea[], $3::timestamptz[], $4::bytea[]) AS n(uid, id, expires, body) "
    "ON CONFLICT (uid, sha256(id)) DO UPDATE SET expires = EXCLUDED.expires, "
    "format = EXCLUDED.format, body = EXCLUDED.body"};

constexpr PgStatement kRequestExpire{
    "request_expire",
    "DELETE FROM request USING unnest($1::bigint[], $2::bytea[]) AS n(uid, id) "
    "WHERE request.uid = n.uid AND sha256(request.id) = sha256(n.id)"};

constexpr PgStatement kAudit{
    "audit",
    "INSERT INTO audit (at, uid, user_name, host, action, subject, outcome) "
    "SELECT * FROM unnest($1::timestamptz[], $2::bigint[], $3::text[], $4::text[], $5::text[], "
    "$6::text[], $7::text[])"};

constexpr PgStatement kBlob{
    "blob",
    "INSERT INTO blob (id, content) SELECT * FROM unnest($1::bytea[], $2::bytea[]) "
    "ON CONFLICT (id) DO UPDATE SET created = now()"};

constexpr PgStatement kController{
    "controller",
    "WITH done AS (UPDATE controller SET lsn = $1::bigint, state_now = $2::timestamptz, "
    "activated_at = $3::timestamptz, next_job_id = $4::bigint, next_node_id = $5::bigint, "
    "config_hash = $6::bigint, lease = $7::bigint, old_leases_end = $8::timestamptz, "
    "next_record_id = $10::bigint, usage_since = $11::timestamptz WHERE epoch = $9::bigint "
    "RETURNING 1) "
    "SELECT expect_rows(count(*), 1, 'controller') FROM done"};

constexpr std::int64_t kFormat = proto::kStorageVersion;

std::string_view view(const BlobId& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

// The job that an event concerns, if any.
std::optional<JobKey> job_of(const EventBody& body) {
  return std::visit(
      [](const auto& e) -> std::optional<JobKey> {
        if constexpr (requires { e.attempt.job; })
          return e.attempt.job;
        else if constexpr (requires {
                             { e.key.task } -> std::convertible_to<TaskIndex>;
                           })
          return e.key;
        else
          return std::nullopt;
      },
      body);
}

PgStep journal_step(const Batch& batch) {
  ArrayParam lsn(Element::bigint), epoch(Element::bigint), at(Element::timestamptz),
      kind(Element::text), job(Element::bigint), task(Element::bigint), body(Element::bytea);
  for (const auto& event : batch.events) {
    lsn.add(event->lsn.value());
    epoch.add(event->epoch.value());
    at.add(event->at);
    kind.add(proto::event_kind(event->body));
    if (const auto key = job_of(event->body)) {
      job.add(key->job.value());
      task.add(task_column(key->task));
    } else {
      job.add_null();
      task.add_null();
    }
    body.add(std::string_view(proto::encode_event(event->body)));
  }
  PgParams params;
  params.array(std::move(lsn)).array(std::move(epoch)).array(std::move(at)).array(std::move(kind));
  params.array(std::move(job)).array(std::move(task)).array(std::move(body)).bigint(kFormat);
  return {&kJournal, std::move(params)};
}

void job_steps(const Batch& batch, const StoredSpecs& stored, std::vector<PgStep>& steps) {
  ArrayParam job(Element::bigint), task(Element::bigint), own(Element::bigint),
      state(Element::text), script(Element::bytea), environment(Element::bytea),
      spec(Element::bytea), body(Element::bytea);
  ArrayParam old_job(Element::bigint), old_task(Element::bigint), old_state(Element::text),
      old_body(Element::bytea);
  for (const auto* item : last_of_each(batch.jobs, [](const auto& j) { return j->key; })) {
    const Job& record = **item;
    const std::string image = proto::encode_job(record);
    const auto known = stored.find(record.key);
    if (known != stored.end() && known->second == record.spec) {
      old_job.add(record.key.job.value());
      old_task.add(task_column(record.key.task));
      old_state.add(to_string(record.state));
      old_body.add(std::string_view(image));
      continue;
    }
    job.add(record.key.job.value());
    task.add(task_column(record.key.task));
    own.add(record.own_id.value());
    state.add(to_string(record.state));
    script.add(view(record.spec->script));
    environment.add(view(record.spec->environment));
    spec.add(std::string_view(proto::encode_spec(*record.spec)));
    body.add(std::string_view(image));
  }
  if (job.size() > 0) {
    PgParams params;
    params.array(std::move(job)).array(std::move(task)).array(std::move(own));
    params.array(std::move(state)).array(std::move(script)).array(std::move(environment));
    params.array(std::move(spec)).array(std::move(body)).bigint(kFormat);
    steps.push_back({&kJobInsert, std::move(params)});
  }
  if (const auto count = static_cast<std::int64_t>(old_job.size()); count > 0) {
    PgParams params;
    params.array(std::move(old_job)).array(std::move(old_task)).array(std::move(old_state));
    params.array(std::move(old_body)).bigint(kFormat).bigint(count);
    steps.push_back({&kJobUpdate, std::move(params)});
  }
  if (batch.forgotten.empty()) return;
  ArrayParam removed_job(Element::bigint), removed_task(Element::bigint);
  for (const JobKey& key : batch.forgotten) {
    removed_job.add(key.job.value());
    removed_task.add(task_column(key.task));
  }
  PgParams params;
  params.array(std::move(removed_job)).array(std::move(removed_task));
  steps.push_back({&kJobForget, std::move(params)});
}

// Inserts or replaces records with a name as key.
template <class Records, class Encode>
void named_records(const Records& records, const PgStatement& statement, Encode&& encode,
                   std::vector<PgStep>& steps) {
  if (records.empty()) return;
  ArrayParam name(Element::text), body(Element::bytea);
  for (const auto* item :
       last_of_each(records, [](const auto& record) { return clean_text(record->name); })) {
    name.add(std::string_view((*item)->name));
    body.add(std::string_view(encode(**item)));
  }
  PgParams params;
  params.array(std::move(name)).array(std::move(body)).bigint(kFormat);
  steps.push_back({&statement, std::move(params)});
}

void cluster_steps(const Batch& batch, std::vector<PgStep>& steps) {
  if (batch.replace_nodes) steps.push_back({&kNodesClear, {}});
  if (!batch.removed_nodes.empty()) {
    ArrayParam id(Element::bigint);
    for (const NodeId removed : batch.removed_nodes) id.add(removed.value());
    PgParams params;
    params.array(std::move(id));
    steps.push_back({&kNodesGone, std::move(params)});
  }
  if (!batch.nodes.empty()) {
    ArrayParam id(Element::bigint), name(Element::text), body(Element::bytea);
    for (const auto* item : last_of_each(batch.nodes, [](const auto& n) { return n->id; })) {
      id.add((*item)->id.value());
      name.add(std::string_view((*item)->name));
      body.add(std::string_view(proto::encode_node(**item)));
    }
    PgParams params;
    params.array(std::move(id)).array(std::move(name)).array(std::move(body)).bigint(kFormat);
    steps.push_back({&kNode, std::move(params)});
  }
  if (batch.replace_partitions) steps.push_back({&kPartitionsClear, {}});
  named_records(batch.partitions, kPartition, proto::encode_partition, steps);
  if (!batch.removed_reservations.empty()) {
    ArrayParam name(Element::text);
    for (const std::string& removed : batch.removed_reservations)
      name.add(std::string_view(removed));
    PgParams params;
    params.array(std::move(name));
    steps.push_back({&kReservationsGone, std::move(params)});
  }
  named_records(batch.reservations, kReservation, proto::encode_reservation, steps);
  if (!batch.tres.empty()) {
    ArrayParam id(Element::bigint), name(Element::text);
    for (const Tres* tres : last_of_each(batch.tres, [](const Tres& t) { return t.id; })) {
      id.add(tres->id.value());
      name.add(std::string_view(tres->name));
    }
    PgParams params;
    params.array(std::move(id)).array(std::move(name));
    steps.push_back({&kTres, std::move(params)});
  }
}

void eviction_steps(const Batch& batch, std::vector<PgStep>& steps) {
  if (batch.evictions.empty()) return;
  PgParams old;
  old.timestamp(batch.evictions_from);
  steps.push_back({&kEvictionsOld, std::move(old)});
  ArrayParam at(Element::timestamptz), job(Element::bigint), task(Element::bigint),
      attempt(Element::bigint), uid(Element::bigint);
  for (const auto* row : last_of_each(batch.evictions, [](const auto& e) { return e.first; })) {
    const auto& [when, victim] = row->first;
    at.add(when);
    job.add(victim.job.job.value());
    task.add(task_column(victim.job.task));
    attempt.add(std::uint64_t{victim.attempt.value()});
    uid.add(std::uint64_t{row->second.value()});
  }
  PgParams params;
  params.array(std::move(at)).array(std::move(job)).array(std::move(task));
  params.array(std::move(attempt)).array(std::move(uid));
  steps.push_back({&kEviction, std::move(params)});
}

void request_steps(const Batch& batch, std::vector<PgStep>& steps) {
  if (!batch.requests.empty()) {
    ArrayParam uid(Element::bigint), id(Element::bytea), expires(Element::timestamptz),
        body(Element::bytea);
    for (const Request* request :
         last_of_each(batch.requests, [](const Request& r) { return r.key; })) {
      uid.add(request->key.uid.value());
      id.add(std::string_view(request->key.id));
      expires.add(request->expires);
      body.add(std::string_view(proto::encode_request(*request)));
    }
    PgParams params;
    params.array(std::move(uid)).array(std::move(id)).array(std::move(expires));
    params.array(std::move(body)).bigint(kFormat);
    steps.push_back({&kRequest, std::move(params)});
  }
  if (!batch.expired.empty()) {
    ArrayParam uid(Element::bigint), id(Element::bytea);
    for (const RequestKey& key : batch.expired) {
      uid.add(key.uid.value());
      id.add(std::string_view(key.id));
    }
    PgParams params;
    params.array(std::move(uid)).array(std::move(id));
    steps.push_back({&kRequestExpire, std::move(params)});
  }
  if (!batch.audit.empty()) {
    ArrayParam at(Element::timestamptz), uid(Element::bigint), user(Element::text),
        host(Element::text), action(Element::text), subject(Element::text), outcome(Element::text);
    for (const AuditEntry& entry : batch.audit) {
      at.add(entry.at);
      uid.add(entry.uid.value());
      user.add(std::string_view(entry.user));
      host.add(std::string_view(entry.host));
      action.add(std::string_view(entry.action));
      subject.add(std::string_view(entry.subject));
      outcome.add(std::string_view(entry.outcome));
    }
    PgParams params;
    params.array(std::move(at)).array(std::move(uid)).array(std::move(user));
    params.array(std::move(host)).array(std::move(action)).array(std::move(subject));
    params.array(std::move(outcome));
    steps.push_back({&kAudit, std::move(params)});
  }
  if (!batch.blobs.empty()) {
    ArrayParam id(Element::bytea), content(Element::bytea);
    for (const Blob* blob : last_of_each(batch.blobs, [](const Blob& b) { return b.id; })) {
      id.add(view(blob->id));
      content.add(std::string_view(*blob->content));
    }
    PgParams params;
    params.array(std::move(id)).array(std::move(content));
    steps.push_back({&kBlob, std::move(params)});
  }
}

}  // namespace

std::vector<const PgStatement*> pg_statements() {
  std::vector<const PgStatement*> all = {
      &kFence,      &kJournal,     &kJobInsert,        &kJobUpdate,       &kJobForget,
      &kNode,       &kNodesClear,  &kNodesGone,        &kPartitionsClear, &kPartition,
      &kTres,       &kRequest,     &kRequestExpire,    &kAudit,           &kBlob,
      &kController, &kReservation, &kReservationsGone, &kEviction,        &kEvictionsOld};
  for (const PgStatement* statement : accounts_statements()) all.push_back(statement);
  for (const PgStatement* statement : attempt_statements()) all.push_back(statement);
  for (const PgStatement* statement : history_statements()) all.push_back(statement);
  for (const PgStatement* statement : step_row_statements()) all.push_back(statement);
  return all;
}

std::vector<PgStep> pg_steps(const Batch& batch, Epoch epoch, ClusterId cluster,
                             const Catalogue& catalogue, const StoredSpecs& stored) {
  std::vector<PgStep> steps;
  PgParams fence;
  fence.bigint(epoch.value()).bigint(batch.first.value());
  steps.push_back({&kFence, std::move(fence)});
  steps.push_back(journal_step(batch));
  request_steps(batch, steps);
  cluster_steps(batch, steps);
  accounts_steps(batch, steps);
  history_steps(batch, catalogue, steps);
  eviction_steps(batch, steps);
  job_steps(batch, stored, steps);
  const auto attempts = last_of_each(batch.attempts, [](const Attempt& a) { return a.key; });
  attempt_steps(attempts, cluster, catalogue, ReleaseTimes(batch), steps);
  step_row_steps(batch, steps);
  PgParams controller;
  controller.bigint(batch.last.value()).timestamp(batch.now).timestamp(batch.activated_at);
  controller.bigint(batch.next_job_id.value());
  controller.bigint(std::uint64_t{batch.next_node_id.value()});
  controller.bigint(batch.config_hash).bigint(batch.lease.count());
  controller.timestamp(batch.old_leases_end).bigint(epoch.value());
  controller.bigint(batch.next_record_id).timestamp(batch.usage_since);
  steps.push_back({&kController, std::move(controller)});
  return steps;
}

void remember_specs(const Batch& batch, StoredSpecs& stored) {
  for (const auto& job : batch.jobs) stored[job->key] = job->spec;
  for (const JobKey& key : batch.forgotten) stored.erase(key);
}

void forget_specs(const Batch& batch, StoredSpecs& stored) {
  for (const auto& job : batch.jobs) stored.erase(job->key);
  for (const JobKey& key : batch.forgotten) stored.erase(key);
}

}  // namespace ares::store
