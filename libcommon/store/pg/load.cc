#include "store/pg/load.h"

#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "core/state/indexes.h"
#include "proto/storage_convert.h"
#include "store/pg/pg_task.h"

namespace ares::store {
namespace {

constexpr std::int64_t kPage = 5000;  // records fetched at a time

tl::unexpected<Error> unreadable(const std::string& which, Error error) {
  error.message = which + ": " + error.message;
  return fail(std::move(error));
}

Status load_controller(PgConnection& connection, ClusterState& state) {
  auto rows = connection.query(
      "SELECT cluster_id, epoch, lsn, state_now, activated_at, next_job_id, next_node_id, "
      "config_hash, lease, old_leases_end, next_record_id, usage_since, history, "
      "array_to_string(past_histories, ' ') FROM controller");
  if (!rows) return fail(rows.error());
  if (rows->size() != 1)
    return fail(ErrorCode::data_loss, "the table `controller` has no row: restore the database");
  state.cluster = ClusterId(static_cast<std::uint16_t>(rows->maybe_bigint(0, 0).value_or(0)));
  state.epoch = Epoch(static_cast<std::uint64_t>(rows->bigint(0, 1)));
  state.lsn = Lsn(static_cast<std::uint64_t>(rows->bigint(0, 2)));
  state.now = rows->time(0, 3);
  state.activated_at = rows->time(0, 4);
  state.next_job_id = JobId(static_cast<std::uint64_t>(rows->bigint(0, 5)));
  state.next_node_id = NodeId(static_cast<std::uint32_t>(rows->bigint(0, 6)));
  state.config_hash = static_cast<std::uint64_t>(rows->bigint(0, 7));
  state.lease = Seconds(rows->bigint(0, 8));
  state.old_leases_end = rows->time(0, 9);
  state.next_record_id = static_cast<std::uint64_t>(rows->bigint(0, 10));
  state.usage_since = rows->time(0, 11);
  state.history = rows->text(0, 12);
  std::istringstream past(rows->text(0, 13));
  for (std::string one; past >> one;) state.past_histories.push_back(one);
  return {};
}

// Specifications of the job id being read, keyed by content: the tasks of an array share one.
class SharedSpecs {
 public:
  Result<std::shared_ptr<const JobSpec>> get(JobId job, std::uint32_t format,
                                             std::string_view bytes) {
    if (job != job_) known_.clear();
    job_ = job;
    const auto known = known_.find(bytes);
    if (known != known_.end()) return known->second;
    auto spec = proto::decode_spec(format, bytes);
    if (!spec) return fail(spec.error());
    auto shared = std::make_shared<const JobSpec>(std::move(*spec));
    known_.emplace(std::string(bytes), shared);
    return shared;
  }

 private:
  JobId job_;
  std::map<std::string, std::shared_ptr<const JobSpec>, std::less<>> known_;
};

Status load_jobs(PgConnection& connection, ClusterState& state) {
  SharedSpecs specs;
  std::int64_t after_job = -1;
  std::int64_t after_task = std::numeric_limits<std::int64_t>::max();
  for (;;) {
    PgParams page;
    page.bigint(after_job).bigint(after_task).bigint(kPage);
    auto rows = connection.query(
        "SELECT job_id, task, format, spec, body FROM job "
        "WHERE (job_id, task) > ($1::bigint, $2::bigint) ORDER BY job_id, task LIMIT $3::bigint",
        page);
    if (!rows) return fail(rows.error());
    for (int row = 0; row < rows->size(); ++row) {
      after_job = rows->bigint(row, 0);
      after_task = rows->bigint(row, 1);
      const JobKey key{JobId(static_cast<std::uint64_t>(after_job)), task_from_column(after_task)};
      const auto name = [&] {
        return "job " + std::to_string(after_job) + ", task " + std::to_string(after_task);
      };
      const auto format = static_cast<std::uint32_t>(rows->bigint(row, 2));
      auto spec = specs.get(key.job, format, rows->bytes(row, 3));
      if (!spec) return unreadable(name(), spec.error());
      auto job = proto::decode_job(format, rows->bytes(row, 4), std::move(*spec));
      if (!job) return unreadable(name(), job.error());
      if (job->key != key)
        return fail(ErrorCode::data_loss, name() + ": its image belongs to another job");
      state.jobs.set(key, std::move(*job));
    }
    if (rows->size() < kPage) return {};
  }
}

Status load_nodes(PgConnection& connection, ClusterState& state) {
  auto rows = connection.query("SELECT node_id, format, body FROM node ORDER BY node_id");
  if (!rows) return fail(rows.error());
  for (int row = 0; row < rows->size(); ++row) {
    auto node =
        proto::decode_node(static_cast<std::uint32_t>(rows->bigint(row, 1)), rows->bytes(row, 2));
    if (!node) return unreadable("node " + std::to_string(rows->bigint(row, 0)), node.error());
    state.node_ids.set(node->name, node->id);
    const NodeId id = node->id;
    state.nodes.set(id, std::move(*node));
  }
  return {};
}

Status load_partitions(PgConnection& connection, ClusterState& state) {
  auto rows = connection.query("SELECT name, format, body FROM partition_conf ORDER BY name");
  if (!rows) return fail(rows.error());
  for (int row = 0; row < rows->size(); ++row) {
    auto partition = proto::decode_partition(static_cast<std::uint32_t>(rows->bigint(row, 1)),
                                             rows->bytes(row, 2));
    if (!partition) return unreadable("partition " + rows->text(row, 0), partition.error());
    const std::string name = partition->name;
    state.partitions.set(name, std::move(*partition));
  }
  return {};
}

Status load_reservations(PgConnection& connection, ClusterState& state) {
  auto rows = connection.query("SELECT name, format, body FROM reservation_conf ORDER BY name");
  if (!rows) return fail(rows.error());
  for (int row = 0; row < rows->size(); ++row) {
    auto reservation = proto::decode_reservation(static_cast<std::uint32_t>(rows->bigint(row, 1)),
                                                 rows->bytes(row, 2));
    if (!reservation) return unreadable("reservation " + rows->text(row, 0), reservation.error());
    const std::string name = reservation->name;
    state.reservations.set(name, std::move(*reservation));
  }
  return {};
}

Status load_accounting(PgConnection& connection, ClusterState& state) {
  auto rows = connection.query("SELECT kind, name, user_name, format, body FROM accounting_conf");
  if (!rows) return fail(rows.error());
  for (int row = 0; row < rows->size(); ++row) {
    auto record = proto::decode_accounting(static_cast<std::uint32_t>(rows->bigint(row, 3)),
                                           rows->bytes(row, 4));
    if (!record)
      return unreadable("record of accounting " + rows->text(row, 1) + " " + rows->text(row, 2),
                        record.error());
    const RecordKey key = key_of(*record);  // before it is moved
    state.accounting.set(key, std::move(*record));
  }
  return {};
}

Status load_usage(PgConnection& connection, ClusterState& state) {
  auto rows = connection.query("SELECT association_id, format, body FROM association_usage");
  if (!rows) return fail(rows.error());
  for (int row = 0; row < rows->size(); ++row) {
    auto usage =
        proto::decode_usage(static_cast<std::uint32_t>(rows->bigint(row, 1)), rows->bytes(row, 2));
    if (!usage)
      return unreadable("usage of association " + std::to_string(rows->bigint(row, 0)),
                        usage.error());
    const AssociationId id = usage->id;
    state.usage.set(id, std::move(*usage));
  }
  return {};
}

Status load_evictions(PgConnection& connection, ClusterState& state) {
  auto rows = connection.query("SELECT at, job_id, task, attempt, uid FROM eviction");
  if (!rows) return fail(rows.error());
  for (int row = 0; row < rows->size(); ++row) {
    const JobKey job{JobId(static_cast<std::uint64_t>(rows->bigint(row, 1))),
                     task_from_column(rows->bigint(row, 2))};
    const AttemptNo attempt(static_cast<std::uint32_t>(rows->bigint(row, 3)));
    state.evictions.set({rows->time(row, 0), AttemptKey{job, attempt}},
                        UserId(static_cast<std::uint32_t>(rows->bigint(row, 4))));
  }
  return {};
}

Status load_requests(PgConnection& connection, ClusterState& state) {
  std::int64_t after_uid = -1;
  std::string after_id;
  for (;;) {
    PgParams page;
    page.bigint(after_uid).bytes(after_id).bigint(kPage);
    auto rows = connection.query(
        "SELECT uid, sha256(id), format, body FROM request "
        "WHERE (uid, sha256(id)) > ($1::bigint, $2::bytea) "
        "ORDER BY uid, sha256(id) LIMIT $3::bigint",
        page);
    if (!rows) return fail(rows.error());
    for (int row = 0; row < rows->size(); ++row) {
      after_uid = rows->bigint(row, 0);
      after_id = rows->bytes(row, 1);
      auto request = proto::decode_request(static_cast<std::uint32_t>(rows->bigint(row, 2)),
                                           rows->bytes(row, 3));
      if (!request)
        return unreadable("a request of uid " + std::to_string(after_uid), request.error());
      const RequestKey key = request->key;
      state.requests.set(key, std::move(*request));
    }
    if (rows->size() < kPage) return {};
  }
}

Status load_tres(PgConnection& connection, ClusterState& state) {
  auto rows = connection.query("SELECT tres_id, name FROM tres ORDER BY tres_id");
  if (!rows) return fail(rows.error());
  for (int row = 0; row < rows->size(); ++row)
    state.tres.set(rows->text(row, 1), TresId(static_cast<std::uint32_t>(rows->bigint(row, 0))));
  return {};
}

}  // namespace

Result<ClusterState> load_accounts(PgConnection& connection) {
  ClusterState state;
  for (auto* load : {load_controller, load_accounting, load_usage})
    if (auto loaded = load(connection, state); !loaded) return fail(loaded.error());
  return state;
}

Result<ClusterState> load_state(PgConnection& connection) {
  ClusterState state;
  if (auto begun = connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); !begun)
    return fail(begun.error());
  for (auto* load :
       {load_controller, load_nodes, load_partitions, load_reservations, load_accounting,
        load_usage, load_tres, load_evictions, load_requests, load_jobs})
    if (auto loaded = load(connection, state); !loaded) return fail(loaded.error());
  if (auto ended = connection.query("COMMIT"); !ended) return fail(ended.error());
  rebuild_indexes(state);
  return state;
}

}  // namespace ares::store
