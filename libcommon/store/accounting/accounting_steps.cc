#include "store/accounting/accounting_steps.h"

#include <map>
#include <tuple>

#include "store/pg/pg_task.h"

namespace ares::store {
namespace {

using Row = api::AccountingRow;
using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // job, task, attempt

constexpr const char* kColumns =
    "s.job_id, s.task, s.attempt::bigint, s.step, s.started, s.ended, s.user_cpu, s.system_cpu, "
    "s.max_rss, s.sum_rss, s.disk_read, s.disk_written, s.steps, s.tasks, s.cpus, s.cancelled_by, "
    "s.node_count::bigint, s.exit_code::bigint, s.exit_signal::bigint, s.name, s.state, "
    "s.node_list, s.max_rss_node";

std::int64_t task_of(const Row& row) {
  return task_column(row.key().has_task() ? TaskIndex{row.key().task()} : TaskIndex{});
}

Key key_of(const Row& row) {
  return {static_cast<std::int64_t>(row.key().job()), task_of(row), row.attempt()};
}

void fill(const PgRows& from, int row, api::AccountingStep& to) {
  int at = 3;
  const auto next = [&] { return from.bigint(row, at++); };
  to.set_number(next());
  to.set_started(from.time(row, at++).time_since_epoch().count());
  to.set_ended(from.time(row, at++).time_since_epoch().count());
  to.set_user_cpu(next());
  to.set_system_cpu(next());
  to.set_max_rss(next());
  to.set_sum_rss(next());
  to.set_disk_read(next());
  to.set_disk_written(next());
  to.set_steps(static_cast<std::uint32_t>(next()));
  to.set_tasks(static_cast<std::uint32_t>(next()));
  to.set_cpus(static_cast<std::uint32_t>(next()));
  if (const auto by = from.maybe_bigint(row, at++))
    to.set_cancelled_by(static_cast<std::uint32_t>(*by));
  to.set_node_count(static_cast<std::uint32_t>(next()));
  to.set_exit_code(static_cast<std::int32_t>(next()));
  to.set_exit_signal(static_cast<std::int32_t>(next()));
  to.set_name(from.text(row, at++));
  to.set_state(from.text(row, at++));
  to.set_node_list(from.text(row, at++));
  to.set_max_rss_node(from.text(row, at++));
}

// Ends the page before the first job of which steps are missing, but not before its first row.
void cut(const PgRows& steps, api::AccountingRows& rows) {
  const std::int64_t job = steps.bigint(steps.size() - 1, 0);
  const std::int64_t task = steps.bigint(steps.size() - 1, 1);
  const auto complete = [&](const Row& row) {
    return std::pair(static_cast<std::int64_t>(row.key().job()), task_of(row)) <
           std::pair(job, task);
  };
  int kept = rows.rows_size();
  while (kept > 0 && !complete(rows.rows(kept - 1))) --kept;
  if (kept == 0) return;
  rows.mutable_rows()->DeleteSubrange(kept, rows.rows_size() - kept);
  rows.set_more(true);
  *rows.mutable_last() = rows.rows(kept - 1).key();
}

}  // namespace

StepStatement step_statement(const api::AccountingRows& rows) {
  ArrayParam job(ArrayParam::Element::bigint), task(ArrayParam::Element::bigint),
      attempt(ArrayParam::Element::bigint);
  for (const Row& row : rows.rows()) {
    job.add(row.key().job());
    task.add(task_of(row));
    attempt.add(std::int64_t{row.attempt()});
  }
  StepStatement statement;
  statement.sql = std::string("SELECT ") + kColumns +
                  " FROM (SELECT DISTINCT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])) "
                  "AS n(job_id, task, attempt) JOIN attempt_step s ON s.job_id = n.job_id AND "
                  "s.task = n.task AND s.attempt = n.attempt "
                  "ORDER BY s.job_id, s.task, s.attempt, s.step LIMIT $4::bigint";
  statement.params.array(std::move(job)).array(std::move(task)).array(std::move(attempt));
  statement.params.bigint(std::int64_t{kMostAnsweredSteps});
  return statement;
}

void add_steps(const PgRows& steps, api::AccountingRows& rows) {
  if (steps.size() >= static_cast<int>(kMostAnsweredSteps)) cut(steps, rows);
  std::multimap<Key, Row*> by_key;
  for (Row& row : *rows.mutable_rows()) by_key.emplace(key_of(row), &row);
  for (int at = 0; at < steps.size(); ++at) {
    const Key key{steps.bigint(at, 0), steps.bigint(at, 1), steps.bigint(at, 2)};
    // An attempt that was cancelled while pending and run later after all has two rows.
    const auto [first, last] = by_key.equal_range(key);
    for (auto row = first; row != last; ++row) fill(steps, at, *row->second->add_steps());
  }
}

}  // namespace ares::store
