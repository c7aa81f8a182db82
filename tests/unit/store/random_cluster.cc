#include "unit/store/random_cluster.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/state/indexes.h"
#include "unit/proto/storage_random.h"

namespace ares::store::testing {

RandomCluster::RandomCluster(std::uint64_t seed, std::uint64_t jobs)
    : random_(std::make_unique<ares::testing::RandomModel>(seed)), jobs_(jobs) {}
RandomCluster::~RandomCluster() = default;

std::uint64_t RandomCluster::bits() {
  return random_->bits();
}
std::uint64_t RandomCluster::below(std::uint64_t bound) {
  return random_->below(bound);
}
BlobId RandomCluster::blob_id() {
  return random_->make<BlobId>();
}

Batch RandomCluster::next(std::size_t events) {
  Batch batch = empty_batch(events);
  for (std::size_t i = 0; i < events; ++i) change_something(batch);
  finish(batch);
  return batch;
}

Batch RandomCluster::empty_batch(std::size_t events) {
  Batch batch;
  batch.epoch = state_.epoch;
  batch.first = state_.lsn.next();
  for (std::size_t i = 0; i < events; ++i) {
    state_.lsn = state_.lsn.next();
    state_.now += Duration(1000 + random_->below(1'000'000));
    batch.events.push_back(std::make_shared<const Event>(
        Event{state_.lsn, state_.epoch, state_.now,
              random_->make_event(random_->below(std::variant_size_v<EventBody>))}));
  }
  batch.last = state_.lsn;
  return batch;
}

void RandomCluster::finish(Batch& batch) {
  state_.next_job_id = JobId(state_.next_job_id.value() + random_->below(3));
  state_.config_hash = random_->bits();
  batch.next_job_id = state_.next_job_id;
  batch.next_node_id = state_.next_node_id;
  batch.now = state_.now;
  batch.activated_at = state_.activated_at;
  state_.lease = Seconds(random_->below(1000));
  state_.old_leases_end = state_.now + Seconds(random_->below(1000));
  batch.lease = state_.lease;
  batch.old_leases_end = state_.old_leases_end;
  batch.config_hash = state_.config_hash;
  batch.next_record_id = state_.next_record_id;
  batch.usage_since = state_.usage_since;
  rebuild_indexes(state_);
}

void RandomCluster::change_something(Batch& batch) {
  switch (random_->below(11)) {
    case 0:
    case 1:
    case 2: return put_job(batch);
    case 3: return drop_job(batch);
    case 4: return put_node(batch);
    case 5: return put_request(batch);
    case 6: return put_partitions(batch);
    case 7: return put_tres(batch);
    case 8: return put_reservation(batch);
    case 9: return put_evictions(batch);
    case 10: return put_record(batch);
  }
}

void RandomCluster::put_evictions(Batch& batch) {
  batch.evictions_from = std::max(batch.evictions_from, state_.now - Seconds(random_->below(60)));
  AttemptKey victim{{JobId(1 + random_->below(jobs_)), {}},
                    AttemptNo(static_cast<std::uint32_t>(random_->below(3)))};
  if (random_->below(3) == 0) victim.job.task.value = 4;
  const EvictionKey key{state_.now, victim};
  batch.evictions.emplace_back(key, UserId(static_cast<std::uint32_t>(random_->below(2000))));
  std::vector<EvictionKey> old;
  state_.evictions.for_each([&](const EvictionKey& known, UserId) {
    if (known.first < batch.evictions_from) old.push_back(known);
  });
  for (const EvictionKey& gone : old) state_.evictions.erase(gone);
  std::erase_if(batch.evictions,
                [&](const auto& e) { return e.first.first < batch.evictions_from; });
  state_.evictions.set(key, batch.evictions.back().second);
}

void RandomCluster::put_job(Batch& batch) {
  Job job = random_->make<Job>();
  job.key = JobKey{JobId(1 + random_->below(jobs_)), {}};
  if (random_->below(3) == 0) job.key.task.value = static_cast<std::uint32_t>(random_->below(4));
  // Usually an update of an existing record, with the specification that it had.
  if (const Job* known = state_.jobs.find(job.key)) {
    if (random_->below(10) != 0) job.spec = known->spec;
  } else if (const Job* array = state_.jobs.find({job.key.job, {}})) {
    job.spec = array->spec;
  }
  std::erase(batch.forgotten, job.key);
  state_.jobs.set(job.key, job);
  batch.jobs.push_back(state_.jobs.share(job.key));
  batch.blobs.push_back({job.spec->script, std::make_shared<const std::string>("#!/bin/sh\n")});

  Attempt attempt = random_->make<Attempt>();
  attempt.key.job = job.key;
  attempt.key.attempt = AttemptNo(static_cast<std::uint32_t>(random_->below(3)));
  attempt.spec = job.spec;
  batch.attempts.push_back(std::move(attempt));
}

void RandomCluster::drop_job(Batch& batch) {
  if (state_.jobs.empty()) return;
  std::vector<JobKey> keys;
  state_.jobs.for_each([&](const JobKey& key, const Job&) { keys.push_back(key); });
  const JobKey key = keys[random_->below(keys.size())];
  std::erase_if(batch.jobs, [&](const auto& job) { return job->key == key; });
  state_.jobs.erase(key);
  batch.forgotten.push_back(key);
}

void RandomCluster::put_node(Batch& batch) {
  if (random_->below(6) == 0 && !state_.nodes.empty()) return drop_node(batch);
  Node node = random_->make<Node>();
  node.id = NodeId(static_cast<std::uint32_t>(1 + random_->below(5)));
  node.name = "n" + std::to_string(node.id.value());
  state_.next_node_id = std::max(state_.next_node_id, node.id.next());
  state_.nodes.set(node.id, node);
  state_.node_ids.set(node.name, node.id);
  std::erase(batch.removed_nodes, node.id);
  batch.nodes.push_back(state_.nodes.share(node.id));
}

void RandomCluster::drop_node(Batch& batch) {
  std::vector<NodeId> ids;
  state_.nodes.for_each([&](NodeId id, const Node&) { ids.push_back(id); });
  const NodeId id = ids[random_->below(ids.size())];
  std::erase_if(batch.nodes, [&](const auto& node) { return node->id == id; });
  state_.node_ids.erase(state_.nodes.find(id)->name);
  state_.nodes.erase(id);
  batch.removed_nodes.push_back(id);
}

void RandomCluster::put_request(Batch& batch) {
  if (random_->below(3) == 0 && !state_.requests.empty()) {
    std::vector<RequestKey> keys;
    state_.requests.for_each([&](const RequestKey& key, const Request&) { keys.push_back(key); });
    const RequestKey key = keys[random_->below(keys.size())];
    std::erase_if(batch.requests, [&](const Request& r) { return r.key == key; });
    state_.requests.erase(key);
    batch.expired.push_back(key);
    return;
  }
  Request request = random_->make<Request>();
  // Any bytes of any length: the client chooses the id.
  if (random_->below(5) == 0) request.key.id.append(random_->below(20'000), 'x');
  std::erase(batch.expired, request.key);
  state_.requests.set(request.key, request);
  batch.requests.push_back(request);
  batch.audit.push_back(random_->make<AuditEntry>());
}

void RandomCluster::put_partitions(Batch& batch) {
  state_.partitions = {};
  batch.replace_partitions = true;
  batch.partitions.clear();
  for (auto count = 1 + random_->below(3); count > 0; --count) {
    Partition partition = random_->make<Partition>();
    partition.name = "part" + std::to_string(random_->below(4));
    state_.partitions.set(partition.name, partition);
  }
  state_.partitions.for_each([&](const std::string& name, const Partition&) {
    batch.partitions.push_back(state_.partitions.share(name));
  });
}

void RandomCluster::put_reservation(Batch& batch) {
  Reservation reservation = random_->make<Reservation>();
  reservation.name = "r" + std::to_string(random_->below(4));
  std::erase_if(batch.reservations, [&](const auto& r) { return r->name == reservation.name; });
  std::erase(batch.removed_reservations, reservation.name);
  if (random_->below(3) == 0) {
    state_.reservations.erase(reservation.name);
    batch.removed_reservations.push_back(reservation.name);
    return;
  }
  state_.reservations.set(reservation.name, reservation);
  batch.reservations.push_back(state_.reservations.share(reservation.name));
}

void RandomCluster::put_record(Batch& batch) {
  AccountingRecord record = random_->make<AccountingRecord>();
  const std::string name = "a" + std::to_string(random_->below(3));
  const std::string user = "u" + std::to_string(random_->below(2));
  struct Name {
    const std::string &name, &user;
    void operator()(Account& a) const { a.name = name; }
    void operator()(User& u) const { u.name = user; }
    void operator()(Association& a) const { a.key = {name, user, ""}; }
    void operator()(Qos& q) const { q.name = name; }
    void operator()(Wckey& w) const { w.key = {name, user}; }
  };
  std::visit(Name{name, user}, record);
  const RecordKey key = key_of(record);
  std::erase_if(batch.records, [&](const auto& r) { return key_of(*r) == key; });
  std::erase(batch.removed_records, key);
  AssociationUsage usage = random_->make<AssociationUsage>();
  usage.id = AssociationId(1 + random_->below(4));
  state_.usage.set(usage.id, std::move(usage));
  state_.usage.for_each([&](AssociationId id, const AssociationUsage&) {
    std::erase_if(batch.usage, [&](const auto& u) { return u->id == id; });
    batch.usage.push_back(state_.usage.share(id));
  });
  if (random_->below(3) == 0) {
    const AssociationId gone(1 + random_->below(4));
    state_.usage.erase(gone);
    std::erase_if(batch.usage, [&](const auto& u) { return u->id == gone; });
    batch.removed_usage.push_back(gone);
  }
  state_.usage_since = state_.now + Seconds(random_->below(1000));
  batch.usage_since = state_.usage_since;
  state_.next_record_id += 1;
  batch.next_record_id = state_.next_record_id;
  if (random_->below(3) == 0) {
    state_.accounting.erase(key);
    batch.removed_records.push_back(key);
    return;
  }
  state_.accounting.set(key, std::move(record));
  batch.records.push_back(state_.accounting.share(key));
}

void RandomCluster::put_tres(Batch& batch) {
  const TresId id(static_cast<std::uint32_t>(1000 + state_.tres.size()));
  const std::string name = "gres/gpu:type" + std::to_string(id.value());
  if (state_.tres.size() > 10) return;
  state_.tres.set(name, id);
  batch.tres.push_back({id, name});
}

}  // namespace ares::store::testing
