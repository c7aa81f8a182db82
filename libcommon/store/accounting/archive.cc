#include "store/accounting/archive.h"

#include <chrono>
#include <cstdio>

namespace ares::store {
namespace {

constexpr std::uint64_t kDigestMask = (std::uint64_t{1} << 60) - 1;  // as in archive_sum()
constexpr int kPage = 2'000;                                         // rows held in memory

// "attempt_done_202501": safe to use without quoting.
std::string part_of(Time month) {
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(month)};
  char name[64];
  std::snprintf(name, sizeof name, "attempt_done_%04d%02u", static_cast<int>(day.year()),
                static_cast<unsigned>(day.month()));
  return name;
}

bool flag(const PgRows& rows) {
  return rows.size() == 1 && !rows.null(0, 0) && rows.bytes(0, 0)[0] != 0;
}

}  // namespace

void ArchiveSum::add(std::uint64_t row_digest) {
  ++rows;
  digest = (digest + row_digest) & kDigestMask;
}

Result<bool> Archive::try_lock() {
  // Number of this advisory lock. The session that holds it can take it again.
  auto rows = connection_.query("SELECT pg_try_advisory_lock(4711, 10)");
  if (!rows) return fail(rows.error());
  return flag(*rows);
}

Result<std::string> Archive::system() {
  auto rows = connection_.query("SELECT system::text FROM controller");
  if (!rows) return fail(rows.error());
  return rows->text(0, 0);
}

Result<std::optional<Time>> Archive::next(Time before, bool with_loaded) {
  PgParams params;
  params.timestamp(before).bigint(std::int64_t{with_loaded});
  auto rows = connection_.query("SELECT archive_next($1::timestamptz, $2::bigint = 1)", params);
  if (!rows) return fail(rows.error());
  const auto month = rows->maybe_time(0, 0);
  if (!month) return std::optional<Time>();
  // Rows of a month without a partition are in the default partition. Move them to their own.
  for (int tries = 0; tries < 20; ++tries) {
    PgParams own;
    own.timestamp(*month);
    auto made = connection_.query("SELECT attempt_prepare($1::timestamptz, 0)", own);
    if (!made) return fail(made.error());
    if (flag(*made)) return month;
  }
  return fail(ErrorCode::unavailable, "reports read the attempts to be archived all the time");
}

Result<std::vector<std::string>> Archive::page(Time month, Cursor& cursor, ArchiveSum& sum) {
  PgParams params;
  params.bigint(cursor.job).bigint(cursor.task).bigint(cursor.attempt).timestamp(cursor.ended);
  params.bigint(std::int64_t{kPage});
  const std::string sql =
      "SELECT t.line, ('x' || left(md5(t.line), 15))::bit(60)::bigint, t.job_id, t.task, "
      "t.attempt::bigint, t.ended FROM (SELECT archive_line(row_to_json(a)::text, a.job_id, "
      "a.task, "
      "a.attempt) AS line, a.job_id, a.task, "
      "a.attempt, a.ended FROM " +
      part_of(month) +
      " a WHERE (a.job_id, a.task, a.attempt, a.ended) > "
      "($1::bigint, $2::bigint, $3::bigint, $4::timestamptz) "
      "ORDER BY a.job_id, a.task, a.attempt, a.ended LIMIT $5::bigint) t "
      "ORDER BY 3, 4, 5, 6";
  auto rows = connection_.query(sql.c_str(), params);
  if (!rows) return fail(rows.error());
  std::vector<std::string> lines;
  lines.reserve(static_cast<std::size_t>(rows->size()));
  for (int at = 0; at < rows->size(); ++at) {
    lines.push_back(rows->text(at, 0));
    sum.add(static_cast<std::uint64_t>(rows->bigint(at, 1)));
    cursor = {rows->bigint(at, 2), rows->bigint(at, 3), rows->bigint(at, 4), rows->time(at, 5)};
  }
  return lines;
}

Result<Archive::PurgeResult> Archive::purge(Time month, const std::string& file,
                                            const ArchiveSum& written, Time now) {
  PgParams params;
  params.timestamp(month).text(file).bigint(written.rows).bigint(written.digest).timestamp(now);
  auto rows = connection_.query(
      "SELECT archive_purge($1::timestamptz, $2::text, $3::bigint, $4::bigint, $5::timestamptz)",
      params);
  if (!rows) return fail(rows.error());
  const std::string outcome = rows->text(0, 0);
  return outcome == "done"      ? PurgeResult::done
         : outcome == "changed" ? PurgeResult::changed
         : outcome == "early"   ? PurgeResult::early
                                : PurgeResult::busy;
}

Result<bool> Archive::begin_load(const ArchivedFile& file, Time now) {
  PgParams own;
  own.timestamp(file.began);
  auto made = connection_.query("SELECT attempt_prepare($1::timestamptz, 0)", own);
  if (!made) return fail(made.error());
  if (!flag(*made)) return false;
  PgParams params;
  params.text(file.name).timestamp(file.began).timestamp(file.ended);
  params.bigint(file.rows).timestamp(now);
  auto noted = connection_.query(
      "INSERT INTO archive_file AS f (name, began, ended, rows, purged, loaded) VALUES "
      "($1::text, $2::timestamptz, $3::timestamptz, $4::bigint, $5::timestamptz, "
      "$5::timestamptz) ON CONFLICT (name) DO UPDATE SET loaded = EXCLUDED.loaded",
      params);
  if (!noted) return fail(noted.error());
  return true;
}

Result<std::uint64_t> Archive::load(const std::vector<std::string>& rows) {
  if (rows.empty()) return 0;
  std::string all = "[";
  for (const std::string& row : rows) all.append(all.size() > 1 ? "," : "").append(row);
  PgParams params;
  params.bytes(all + "]");
  auto came =
      connection_.query("SELECT archive_load(convert_from($1::bytea, 'UTF8')::jsonb)", params);
  if (!came) return fail(came.error());
  return static_cast<std::uint64_t>(came->bigint(0, 0));
}

Result<std::vector<ArchivedFile>> Archive::files() {
  auto rows = connection_.query(
      "SELECT name, began, ended, rows, purged, loaded FROM archive_file ORDER BY began, name");
  if (!rows) return fail(rows.error());
  std::vector<ArchivedFile> files;
  for (int at = 0; at < rows->size(); ++at)
    files.push_back({rows->text(at, 0), rows->time(at, 1), rows->time(at, 2),
                     static_cast<std::uint64_t>(rows->bigint(at, 3)), rows->time(at, 4),
                     rows->maybe_time(at, 5)});
  return files;
}

}  // namespace ares::store
