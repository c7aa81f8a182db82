#include "proto/view_dump.h"

#include <limits>
#include <memory>
#include <utility>

#include "core/state/indexes.h"
#include "proto/accounts_convert.h"
#include "proto/storage_convert.h"
#include "proto/storage_records.h"

namespace ares::proto {
namespace {

constexpr std::string_view kMagic = "ARESVIEW1\n";  // the file's first bytes

void put_counters(const ClusterState& from, storage::ViewDump& to) {
  to.set_cluster(from.cluster.value());
  to.set_epoch(from.epoch.value());
  to.set_lsn(from.lsn.value());
  to.set_state_now(micros(from.now));
  to.set_activated_at(micros(from.activated_at));
  to.set_next_job_id(from.next_job_id.value());
  to.set_next_node_id(from.next_node_id.value());
  to.set_config_hash(from.config_hash);
  to.set_lease(from.lease.count());
  to.set_old_leases_end(micros(from.old_leases_end));
}

void get_counters(const storage::ViewDump& from, ClusterState& to) {
  to.cluster = ClusterId(static_cast<std::uint16_t>(from.cluster()));
  to.epoch = Epoch(from.epoch());
  to.lsn = Lsn(from.lsn());
  to.now = to_time(from.state_now());
  to.activated_at = to_time(from.activated_at());
  to.next_job_id = JobId(from.next_job_id());
  to.next_node_id = NodeId(from.next_node_id());
  to.config_hash = from.config_hash();
  to.lease = Seconds(from.lease());
  to.old_leases_end = to_time(from.old_leases_end());
}

// Jobs with the same specification are adjacent, as array tasks are, so they share one copy.
void put_jobs(const ClusterState& from, storage::ViewDump& to) {
  std::shared_ptr<const JobSpec> last;
  from.jobs.for_each([&](const JobKey&, const Job& job) {
    if (to.jobs().empty() || job.spec != last) put(*job.spec, *to.add_jobs()->mutable_spec());
    last = job.spec;
    put(job, *to.mutable_jobs(to.jobs_size() - 1)->add_jobs());
  });
}

void get_jobs(const storage::ViewDump& from, ClusterState& to, DecodeErrors& errors) {
  for (const auto& shared : from.jobs()) {
    const auto spec = std::make_shared<const JobSpec>(get(shared.spec(), errors));
    for (const storage::Job& record : shared.jobs()) {
      Job job = get(record, errors);
      job.spec = spec;
      const JobKey key = job.key;
      to.jobs.set(key, std::move(job));
    }
  }
}

void get_cluster(const storage::ViewDump& from, ClusterState& to, DecodeErrors& errors) {
  for (const storage::Node& record : from.nodes()) {
    Node node = get(record, errors);
    const NodeId id = node.id;
    to.node_ids.set(node.name, id);
    to.nodes.set(id, std::move(node));
  }
  for (const storage::Partition& record : from.partitions()) put_partition(to, get(record, errors));
  for (const storage::Reservation& record : from.reservations()) {
    Reservation reservation = get(record, errors);
    const std::string name = reservation.name;
    to.reservations.set(name, std::move(reservation));
  }
  for (const accounts::Record& record : from.accounting()) {
    AccountingRecord read = get(record, errors);
    const RecordKey key = key_of(read);  // before it is moved
    to.accounting.set(key, std::move(read));
  }
  to.next_record_id = from.next_record_id();
  to.usage_since = to_time(from.usage_since());
  for (const storage::AssociationUsage& record : from.usage()) {
    AssociationUsage usage = get(record, errors);
    const AssociationId id = usage.id;
    to.usage.set(id, std::move(usage));
  }
  for (const auto& record : from.evictions())
    to.evictions.set({to_time(record.at()), get(record.attempt(), errors)}, UserId(record.uid()));
  for (const storage::Tres& record : from.tres()) to.tres.set(record.name(), TresId(record.id()));
}

}  // namespace

Result<std::string> encode_view(const ViewDump& dump) {
  storage::ViewDump to;
  to.set_format(kStorageVersion);
  to.set_release(dump.release);
  to.set_now(micros(dump.now));
  to.set_budget(dump.budget);
  to.set_estimates(dump.estimates);
  to.set_plan(dump.plan);
  to.set_config(dump.config);
  to.set_topologies(dump.topologies);
  const ClusterState& state = dump.state;
  put_counters(state, to);
  put_jobs(state, to);
  state.nodes.for_each([&](NodeId, const Node& node) { put(node, *to.add_nodes()); });
  state.partitions.for_each([&](const std::string&, const Partition& partition) {
    put(partition, *to.add_partitions());
  });
  state.reservations.for_each([&](const std::string&, const Reservation& reservation) {
    put(reservation, *to.add_reservations());
  });
  state.accounting.for_each(
      [&](const RecordKey&, const AccountingRecord& record) { put(record, *to.add_accounting()); });
  to.set_next_record_id(state.next_record_id);
  to.set_usage_since(micros(state.usage_since));
  state.usage.for_each(
      [&](AssociationId, const AssociationUsage& usage) { put(usage, *to.add_usage()); });
  state.tres.for_each([&](const std::string& name, TresId id) {
    put(Tres{id, name}, *to.add_tres());
  });
  state.evictions.for_each([&](const EvictionKey& key, UserId user) {
    auto& record = *to.add_evictions();
    put(key.second, *record.mutable_attempt());
    record.set_at(micros(key.first));
    record.set_uid(user.value());
  });
  if (to.ByteSizeLong() > std::numeric_limits<int>::max())
    return fail(ErrorCode::resource_exhausted,
                "the view has more than 2 GiB, more than one dump can hold");
  return std::string(kMagic) + to.SerializeAsString();
}

Result<ViewDump> decode_view(std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    return fail(ErrorCode::data_loss, "it is no dump of a view; adiag dump-view makes one");
  bytes.remove_prefix(kMagic.size());
  storage::ViewDump from;
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(ErrorCode::data_loss, "the dump is damaged, or not all of it is there");
  if (from.format() == 0 || from.format() > kStorageVersion)
    return fail(ErrorCode::data_loss, "the dump is in format " + std::to_string(from.format()) +
                                          ", but this release reads up to " +
                                          std::to_string(kStorageVersion) +
                                          ": use the release that wrote it, " + from.release());
  ViewDump dump;
  DecodeErrors errors;
  get_counters(from, dump.state);
  get_cluster(from, dump.state, errors);
  get_jobs(from, dump.state, errors);
  if (!errors.empty())
    return fail(ErrorCode::data_loss, "the dump cannot be read: " + errors.text() +
                                          "; it is damaged, or a newer release wrote it (" +
                                          from.release() + ")");
  rebuild_indexes(dump.state);
  dump.now = to_time(from.now());
  dump.budget = from.budget();
  dump.estimates = from.estimates();
  dump.plan = from.plan();
  dump.config = from.config();
  dump.topologies = from.topologies();
  dump.release = from.release();
  return dump;
}

}  // namespace ares::proto
