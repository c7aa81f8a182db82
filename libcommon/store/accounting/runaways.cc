#include "store/accounting/runaways.h"

#include "store/pg/pg_task.h"

namespace ares::store {
namespace {

using Element = ArrayParam::Element;

constexpr const char* kList =
    "SELECT job_id, task, attempt, name, user_name, account, partition, state, node_list, "
    "submitted, allocated, started FROM runaway_attempts() ORDER BY job_id, task LIMIT 10000";

std::int64_t micros(const PgRows& rows, int row, int column) {
  const auto at = rows.maybe_time(row, column);
  return at ? at->time_since_epoch().count() : 0;
}

void fill(const PgRows& rows, int at, api::RunawayJobs::Row& row) {
  row.mutable_job()->set_job(static_cast<std::uint64_t>(rows.bigint(at, 0)));
  if (const auto task = rows.bigint(at, 1); task >= 0)
    row.mutable_job()->set_task(static_cast<std::uint32_t>(task));
  row.set_attempt(static_cast<std::uint32_t>(rows.bigint(at, 2)));
  row.set_name(rows.text(at, 3));
  row.set_user(rows.text(at, 4));
  row.set_account(rows.text(at, 5));
  row.set_partition(rows.text(at, 6));
  row.set_state(rows.text(at, 7));
  row.set_nodes(rows.text(at, 8));
  row.set_submitted(micros(rows, at, 9));
  row.set_allocated(micros(rows, at, 10));
  row.set_started(micros(rows, at, 11));
}

}  // namespace

Result<api::RunawayJobs> Runaways::list() {
  auto rows = connection_.query(kList);
  if (!rows) return fail(rows.error());
  api::RunawayJobs out;
  for (int at = 0; at < rows->size(); ++at) fill(*rows, at, *out.add_rows());
  return out;
}

Result<std::uint64_t> Runaways::end(const std::vector<AttemptKey>& attempts, const Principal& who,
                                    Epoch mine, Time now) {
  ArrayParam job(Element::bigint), task(Element::bigint), number(Element::bigint);
  for (const AttemptKey& attempt : attempts) {
    job.add(attempt.job.job.value());
    task.add(task_column(attempt.job.task));
    number.add(attempt.attempt.value());
  }
  PgParams params;
  params.bigint(mine.value()).array(std::move(job)).array(std::move(task)).array(std::move(number));
  params.bigint(std::uint64_t{who.uid.value()}).text(who.user).text(who.host).timestamp(now);
  auto rows = connection_.query(
      "SELECT runaway_end($1::bigint, $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint, "
      "$6::text, $7::text, $8::timestamptz)",
      params);
  if (!rows) return fail(rows.error());
  return static_cast<std::uint64_t>(rows->bigint(0, 0));
}

}  // namespace ares::store
