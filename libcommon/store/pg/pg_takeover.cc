#include "store/pg/pg_takeover.h"

#include <algorithm>
#include <random>
#include <sstream>
#include <utility>

#include "model/engine/history.h"

namespace ares::store {
namespace {

constexpr const char* kMarkColumns =
    "system::text, epoch, lsn, next_job_id, next_node_id, history, "
    "array_to_string(past_histories, ' ')";

HighWaterMark read_mark(const PgRows& rows) {
  HighWaterMark mark;
  mark.system = rows.text(0, 0);
  mark.position.epoch = Epoch(static_cast<std::uint64_t>(rows.bigint(0, 1)));
  mark.position.lsn = Lsn(static_cast<std::uint64_t>(rows.bigint(0, 2)));
  mark.position.next_job_id = JobId(static_cast<std::uint64_t>(rows.bigint(0, 3)));
  mark.next_node_id = NodeId(static_cast<std::uint32_t>(rows.bigint(0, 4)));
  mark.position.history = rows.text(0, 5);
  return mark;
}

// Nodes and controllers that saw one of the ended histories are told apart by it from those that
// saw a later one.
struct Histories {
  std::string current;
  std::vector<std::string> past;

  void end(const std::string& history) {
    const bool known = std::find(past.begin(), past.end(), history) != past.end();
    if (!history.empty() && !known) past.push_back(history);
  }
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& one : words) text += (text.empty() ? "" : " ") + one;
  return text;
}

// Where this controller goes on; begins a new history if a rollback is accepted.
Result<HighWaterMark> where_to_go_on(const PgOptions& options, const HighWaterMark& found,
                                     Histories& histories) {
  if (!options.accept_rollback) {
    if (!options.seen) return found;
    if (auto newer = check_not_behind(*options.seen, found, histories.past); !newer)
      return fail(newer.error());
    HighWaterMark mark = found;
    mark.position.next_job_id = next_job_id_after(*options.seen, found);
    return mark;
  }
  histories.end(histories.current);
  if (options.seen) histories.end(options.seen->position.history);
  const HighWaterMark raised =
      raised_above(options.seen.value_or(with_reserve(found, kIdsBetweenHeartbeats)), found);
  histories.current = name_history(found.system, raised.position.lsn, random_uuid());
  return raised;
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

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string one; in >> one;) words.push_back(one);
  return words;
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

std::string random_uuid() {
  std::random_device random;
  static constexpr char kHex[] = "0123456789abcdef";
  std::string uuid = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
  for (char& c : uuid)
    if (c == 'x') c = kHex[random() & 15];
  return uuid;
}

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
  const HighWaterMark found = read_mark(*rows);
  Histories histories{found.position.history, words_of(rows->text(0, 6))};
  const auto cluster = rows->maybe_bigint(0, 7);
  if (cluster && *cluster != options.cluster.value())
    return fail(ErrorCode::failed_precondition,
                "the database belongs to cluster_id " + std::to_string(*cluster) +
                    ", but ares.yaml says cluster_id " + std::to_string(options.cluster.value()));
  auto mark = where_to_go_on(options, found, histories);
  if (!mark) return fail(mark.error());
  JournalPosition& position = mark->position;
  position.epoch = position.epoch.next();
  position.history = histories.current;

  PgParams params;
  params.bigint(position.epoch.value()).text(holder).text(options.controller_host);
  params.bigint(position.lsn.value()).bigint(position.next_job_id.value());
  params.bigint(std::uint64_t{mark->next_node_id.value()});
  params.bigint(std::uint64_t{options.cluster.value()}).text(options.cluster_name);
  params.text(histories.current).text(joined(histories.past));
  auto taken = connection.query(
      "WITH named AS (INSERT INTO cluster VALUES ($7::bigint, $8::text) "
      "ON CONFLICT (cluster_id) DO UPDATE SET name = EXCLUDED.name) "
      "UPDATE controller SET epoch = $1::bigint, holder = $2::text::uuid, host = $3::text, "
      "lsn = $4::bigint, next_job_id = $5::bigint, next_node_id = $6::bigint, "
      "cluster_id = $7::bigint, history = $9::text, "
      "past_histories = coalesce(string_to_array(nullif($10::text, ''), ' '), '{}')",
      params);
  if (!taken) return fail(taken.error());
  if (auto done = connection.query("COMMIT"); !done) return fail(done.error());
  return *std::move(mark);
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
