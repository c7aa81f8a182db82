#include "store/pg/pg_takeover.h"

#include <utility>

namespace ares::store {
namespace {

constexpr const char* kMarkColumns = "system::text, epoch, lsn, next_job_id, next_node_id";

HighWaterMark read_mark(const PgRows& rows) {
  HighWaterMark mark;
  mark.system = rows.text(0, 0);
  mark.epoch = Epoch(static_cast<std::uint64_t>(rows.bigint(0, 1)));
  mark.lsn = Lsn(static_cast<std::uint64_t>(rows.bigint(0, 2)));
  mark.next_job_id = JobId(static_cast<std::uint64_t>(rows.bigint(0, 3)));
  mark.next_node_id = NodeId(static_cast<std::uint32_t>(rows.bigint(0, 4)));
  return mark;
}

// Waits for a commit in progress, but only up to the lock timeout.
Status begin_locked(PgConnection& connection, const PgOptions& options) {
  if (auto begun = connection.query("BEGIN"); !begun) return fail(begun.error());
  const std::string limit =
      "SET LOCAL lock_timeout = " + std::to_string(options.lock_timeout.count() * 1000);
  return connection.run(limit);
}

Result<std::string> setting(PgConnection& connection, const char* name) {
  PgParams params;
  params.text(name);
  auto rows = connection.query("SELECT current_setting($1::text)", params);
  if (!rows) return fail(rows.error());
  return rows->text(0, 0);
}

struct UnsafeSetting {
  const char* setting;
  const char* refused;  // value that is refused
  const char* why;
};

constexpr UnsafeSetting kDurability[] = {
    {"fsync", "off", "a crash of the server's machine loses acknowledged jobs"},
    {"full_page_writes", "off", "a crash of the server's machine can destroy the database"},
    {"synchronous_commit", "off", "commits are confirmed before they are on disk"},
};

}  // namespace

Status check_server(PgConnection& connection, const PgOptions& options) {
  auto encoding = setting(connection, "server_encoding");
  if (!encoding) return fail(encoding.error());
  if (*encoding != "UTF8" && *encoding != "SQL_ASCII")
    return fail(ErrorCode::failed_precondition,
                "the database's encoding is " + *encoding +
                    ", which cannot hold every name: create it with createdb --encoding=UTF8 "
                    "--template=template0");
  if (options.accept_data_loss) return {};

  if (auto set = connection.run(
          "DO $$ BEGIN IF current_setting('synchronous_commit') <> 'remote_apply' THEN "
          "SET synchronous_commit = on; END IF; END $$");
      !set)
    return set;
  for (const UnsafeSetting& unsafe : kDurability) {
    auto value = setting(connection, unsafe.setting);
    if (!value) return fail(value.error());
    if (*value == unsafe.refused)
      return fail(ErrorCode::failed_precondition,
                  std::string("the database server runs with ") + unsafe.setting + "=" + *value +
                      ": " + unsafe.why +
                      ". Change it in postgresql.conf, or set `database: accept_data_loss: true`");
  }
  if (options.host.find(',') == std::string::npos) return {};
  auto standbys = setting(connection, "synchronous_standby_names");
  if (!standbys) return fail(standbys.error());
  if (standbys->empty())
    return fail(ErrorCode::failed_precondition,
                "ares.yaml names several database hosts (" + options.host +
                    "), but the server has no synchronous_standby_names: a failover would lose "
                    "acknowledged jobs. Set it, or `database: accept_data_loss: true`");
  return {};
}

Result<HighWaterMark> take_epoch(PgConnection& connection, const PgOptions& options,
                                 const std::string& holder) {
  if (auto begun = begin_locked(connection, options); !begun) return fail(begun.error());
  auto rows = connection.query(
      (std::string("SELECT ") + kMarkColumns + ", cluster_id FROM controller FOR UPDATE").c_str());
  if (!rows) return fail(rows.error());
  if (rows->size() != 1)
    return fail(ErrorCode::data_loss, "the table `controller` has no row: restore the database");
  HighWaterMark mark = read_mark(*rows);
  const auto cluster = rows->maybe_bigint(0, 5);
  if (cluster && *cluster != options.cluster.value())
    return fail(ErrorCode::failed_precondition,
                "the database belongs to cluster_id " + std::to_string(*cluster) +
                    ", but ares.yaml says cluster_id " + std::to_string(options.cluster.value()));
  if (options.seen) {
    if (auto newer = check_not_behind(*options.seen, mark); !newer) {
      if (!options.accept_rollback) return fail(newer.error());
      mark = raised_above(*options.seen, mark);
    }
  }
  mark.epoch = mark.epoch.next();

  PgParams params;
  params.bigint(mark.epoch.value()).text(holder).text(options.controller_host);
  params.bigint(mark.lsn.value()).bigint(mark.next_job_id.value());
  params.bigint(std::uint64_t{mark.next_node_id.value()});
  params.bigint(std::uint64_t{options.cluster.value()}).text(options.cluster_name);
  auto taken = connection.query(
      "WITH named AS (INSERT INTO cluster VALUES ($7::bigint, $8::text) "
      "ON CONFLICT (cluster_id) DO UPDATE SET name = EXCLUDED.name) "
      "UPDATE controller SET epoch = $1::bigint, holder = $2::text::uuid, host = $3::text, "
      "lsn = $4::bigint, next_job_id = $5::bigint, next_node_id = $6::bigint, "
      "cluster_id = $7::bigint",
      params);
  if (!taken) return fail(taken.error());
  if (auto done = connection.query("COMMIT"); !done) return fail(done.error());
  return mark;
}

Result<HighWaterMark> retake_epoch(PgConnection& connection, const PgOptions& options,
                                   const std::string& holder) {
  if (auto begun = begin_locked(connection, options); !begun) return fail(begun.error());
  PgParams params;
  params.text(holder);
  auto rows = connection.query((std::string("UPDATE controller SET epoch = epoch + 1 "
                                            "WHERE holder = $1::text::uuid RETURNING ") +
                                kMarkColumns)
                                   .c_str(),
                               params);
  if (!rows) return fail(rows.error());
  if (rows->size() != 1)
    return fail(ErrorCode::stale,
                "another controller took over while this one had lost the database: this one must "
                "stop");
  HighWaterMark mark = read_mark(*rows);
  if (auto done = connection.query("COMMIT"); !done) return fail(done.error());
  return mark;
}

}  // namespace ares::store
