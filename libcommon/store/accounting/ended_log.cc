#include "store/accounting/ended_log.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "store/pg/pg_pool.h"

namespace ares::store {
namespace {

constexpr int kMostEnds = 1'000;

// The row of the attempt is the first that was released at the time of the change or later. `released` is that time, or
// the end that the node told if its clock is ahead; attempts that held nothing have none. A job that had ended and is
// requeued has no row then.
constexpr const char* kEndsSql =
    "SELECT j.lsn, j.job_id, j.task, coalesce(a.attempt, -1), a.ended, "
    "CASE WHEN j.kind = 'Requeued' THEN 1 ELSE 0 END::bigint "
    "FROM (SELECT lsn, job_id, task, kind, at FROM journal WHERE lsn > $1::bigint AND lsn <= "
    "$2::bigint "
    "AND kind IN ('Ended', 'Requeued') ORDER BY lsn LIMIT $3::bigint) j "
    "LEFT JOIN LATERAL (SELECT d.attempt, d.ended, coalesce(d.released, d.ended) AS left_at "
    "FROM attempt_done d WHERE d.job_id = j.job_id AND d.task = j.task "
    "AND coalesce(d.released, d.ended) >= j.at ORDER BY 3, 1 LIMIT 1) a "
    "ON a.left_at = j.at OR a.left_at = a.ended ORDER BY j.lsn";

constexpr const char* kOldestSql = "SELECT coalesce(min(lsn), 0)::bigint FROM journal";

}  // namespace

EndedLog::EndedLog(PgOptions options, std::size_t connections)
    : pool_(std::make_unique<PgPool>(std::move(options), connections)) {}
EndedLog::~EndedLog() = default;

Result<EndedAttempts> EndedLog::query(Lsn after, Lsn upto) {
  PgParams params;
  params.bigint(after.value()).bigint(upto.value()).bigint(std::int64_t{kMostEnds});
  const auto rows = pool_->query(kEndsSql, params);
  if (!rows) return fail(rows.error());
  // Read last, so that what is deleted meanwhile is noticed.
  const auto oldest = pool_->query(kOldestSql, PgParams());
  if (!oldest) return fail(oldest.error());
  EndedAttempts out;
  out.upto = upto;
  out.missed = static_cast<std::uint64_t>(oldest->bigint(0, 0)) > after.value() + 1;
  if (rows->size() >= kMostEnds)
    out.upto = Lsn(static_cast<std::uint64_t>(rows->bigint(rows->size() - 1, 0)));
  std::set<std::tuple<JobKey, std::uint32_t, Time>> known;
  for (int at = 0; at < rows->size(); ++at) {
    if (rows->bigint(at, 3) < 0) continue;
    const std::int64_t task = rows->bigint(at, 2);
    EndedAttempt one;
    one.job.job = JobId(static_cast<std::uint64_t>(rows->bigint(at, 1)));
    if (task >= 0) one.job.task = TaskIndex{static_cast<std::uint32_t>(task)};
    one.attempt = static_cast<std::uint32_t>(rows->bigint(at, 3));
    one.ended = rows->time(at, 4);
    one.requeued = rows->bigint(at, 5) != 0;
    if (known.emplace(one.job, one.attempt, one.ended).second) out.attempts.push_back(one);
  }
  return out;
}

}  // namespace ares::store
