#include "store/accounting/accounting_sql.h"

#include <algorithm>
#include <utility>

#include "model/job/job.h"
#include "store/pg/pg_task.h"

namespace ares::store {
namespace {

using Element = ArrayParam::Element;

// Server and client hold an answer completely in memory, several at a time.
constexpr std::uint32_t kPageBytes = 8 << 20;
constexpr std::uint32_t kPageRows = 50'000;
constexpr std::uint32_t kPageRowsWithSteps = 2'000;

// The requested states, grouped by their relation to the time window.
struct WantedStates {
  bool pending = false, running = false;
  std::vector<std::string> live;  // states that only the present row shows
  std::vector<std::string> ended;

  bool none() const { return !pending && !running && live.empty() && ended.empty(); }
  bool only_ended() const { return !pending && !running && live.empty() && !ended.empty(); }
};

WantedStates sort_states(const std::vector<std::string>& names) {
  WantedStates wanted;
  for (const std::string& name : names) {
    const auto state = parse_job_state(name);
    if (state == JobState::pending) {
      wanted.pending = true;
    } else if (state == JobState::running) {
      wanted.running = true;
    } else if (state && !is_terminal(*state)) {
      wanted.live.push_back(name);
    } else {
      wanted.ended.push_back(name);
    }
  }
  return wanted;
}

// Builds WHERE clauses condition by condition. The text consists of constants; all values from
// users are parameters.
class Conditions {
 public:
  explicit Conditions(PgParams& params) : params_(params) {}

  void add(const std::string& condition) {
    sql_ += sql_.empty() ? " WHERE " : " AND ";
    sql_ += condition;
  }

  void text_in(const char* column, const std::vector<std::string>& values) {
    if (!values.empty()) add(std::string(column) + " = ANY(" + texts(values) + ")");
  }

  void number_in(const char* column, const std::vector<std::uint64_t>& values) {
    if (!values.empty()) add(std::string(column) + " = ANY(" + numbers(values) + ")");
  }

  void users(const AccountingFilter& filter) {
    if (filter.users.empty()) return number_in("a.uid", filter.uids);
    if (filter.uids.empty()) return text_in("a.user_name", filter.users);
    add("(a.user_name = ANY(" + texts(filter.users) + ") OR a.uid = ANY(" + numbers(filter.uids) +
        "))");
  }

  // A task that never ran is included in the row of its array.
  void jobs(const std::vector<JobKey>& keys) {
    if (keys.empty()) return;
    std::vector<std::uint64_t> whole;
    std::vector<std::uint64_t> array_ids;
    ArrayParam job(Element::bigint), task(Element::bigint);
    for (const JobKey& key : keys) {
      if (key.task.is_none()) {
        whole.push_back(key.job.value());
        continue;
      }
      if (array_ids.empty() || array_ids.back() != key.job.value()) {
        array_ids.push_back(key.job.value());
        job.add(key.job.value());
        task.add(std::int64_t{-1});
      }
      job.add(key.job.value());
      task.add(task_column(key.task));
    }
    std::string any;
    const auto either = [&](const std::string& condition) {
      any += (any.empty() ? "(" : " OR ") + condition;
    };
    if (!whole.empty()) {
      const std::string ids = numbers(whole);
      either("a.job_id = ANY(" + ids + ")");
      either("(a.task >= 0 AND a.own_id = ANY(" + ids + "))");
    }
    if (!array_ids.empty()) {
      const std::string ids = numbers(array_ids);
      // The first condition allows PostgreSQL to use the index.
      const std::string job_at = next(), task_at = next(1);
      params_.array(std::move(job)).array(std::move(task));
      either("(a.job_id = ANY(" + ids + ") AND (a.job_id, a.task) IN (SELECT * FROM unnest(" +
             job_at + "::bigint[], " + task_at + "::bigint[])))");
    }
    add(any + ")");
  }

  // An attempt that never ran lists all of its requested partitions.
  void partitions(const std::vector<std::string>& names) {
    if (names.empty()) return;
    const std::string list = texts(names);
    add("(a.partition = ANY(" + list +
        ") OR (a.node_count = 0 AND string_to_array(a.partition, ',') && " + list + "))");
  }

  void range(const char* column, const Range& range) {
    if (range.least) add(std::string(column) + " >= " + number(*range.least));
    if (range.most) add(std::string(column) + " <= " + number(*range.most));
  }

  void time_limit(const Range& range) {
    if (range.least) add("(a.time_limit IS NULL OR a.time_limit >= " + number(*range.least) + ")");
    if (range.most) add("a.time_limit BETWEEN 1 AND " + number(*range.most));
  }

  void behind(const std::optional<JobKey>& key) {
    if (!key) return;
    const std::string job = number(static_cast<std::int64_t>(key->job.value()));
    add("(a.job_id, a.task) > (" + job + ", " + number(task_column(key->task)) + ")");
  }

  void common(const AccountingFilter& filter) {
    jobs(filter.jobs);
    jobs(filter.among);
    users(filter);
    number_in("a.gid", filter.gids);
    text_in("a.account", filter.accounts);
    partitions(filter.partitions);
    text_in("a.name", filter.names);
    text_in("a.qos", filter.qos);
    text_in("a.wckey", filter.wckeys);
    range("a.node_count", filter.node_count);
    range("a.cpus", filter.cpus);
    time_limit(filter.time_limit);
    behind(filter.after);
    if (!filter.all_attempts) add("NOT a.superseded");
  }

  std::string time(Time at) {
    std::string position = next() + "::timestamptz";
    params_.timestamp(at);
    return position;
  }

  std::string texts(const std::vector<std::string>& values) {
    ArrayParam array(Element::text);
    for (const std::string& value : values) array.add(std::string_view(value));
    std::string position = next() + "::text[]";
    params_.array(std::move(array));
    return position;
  }

  const std::string& sql() const { return sql_; }

 private:
  // "$4": the name of the parameter that is added next, or `later` parameters after it.
  std::string next(std::size_t later = 0) const {
    return "$" + std::to_string(params_.values().size() + 1 + later);
  }

  std::string number(std::int64_t value) {
    std::string position = next() + "::bigint";
    params_.bigint(value);
    return position;
  }

  std::string numbers(const std::vector<std::uint64_t>& values) {
    ArrayParam array(Element::bigint);
    for (const std::uint64_t value : values) array.add(value);
    std::string position = next() + "::bigint[]";
    params_.array(std::move(array));
    return position;
  }

  PgParams& params_;
  std::string sql_;
};

// "a AND b"; an empty side is left out.
std::string both(const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : a + " AND " + b;
}

// Disjunction of conditions, none of them empty. Without conditions it is false.
class AnyOf {
 public:
  void add(const std::string& condition) {
    text_ += (text_.empty() ? "((" : " OR (") + condition + ")";
  }
  std::string text() const { return text_.empty() ? "false" : text_ + ")"; }

 private:
  std::string text_;
};

// Each parameter is added where it is used, because the server refuses unused parameters.
void window_of_live(const AccountingFilter& filter, const WantedStates& states, Conditions& where) {
  const auto known = [&] {
    return filter.end ? "a.submitted <= " + where.time(*filter.end) : std::string();
  };
  const bool always = states.none() || (states.pending && !filter.start && !filter.end);
  if (always) {
    if (filter.end) where.add(known());
    return;
  }
  AnyOf any;
  if (states.running)
    any.add(filter.end ? "a.started <= " + where.time(*filter.end) : "a.started IS NOT NULL");
  if (states.pending)
    any.add(both(known(),
                 filter.start ? "a.allocated >= " + where.time(*filter.start) : std::string()));
  if (!states.live.empty())
    any.add(both("a.state = ANY(" + where.texts(states.live) + ")", known()));
  where.add(any.text());
}

void window_of_done(const AccountingFilter& filter, const WantedStates& states, Conditions& where) {
  const auto until_end = [&](const char* column) {
    return filter.end ? column + (" <= " + where.time(*filter.end)) : std::string();
  };
  // The attempt must not have ended before the window: allows index and partition pruning.
  if (filter.start) where.add("a.ended >= " + where.time(*filter.start));
  const bool always = states.none() || (states.pending && !filter.start && !filter.end);
  if (always) {
    if (filter.end) where.add(until_end("a.submitted"));
    return;
  }
  if (states.only_ended() && filter.end) where.add(until_end("a.ended"));
  AnyOf any;
  if (states.running) any.add(filter.end ? until_end("a.started") : "a.started IS NOT NULL");
  if (states.pending)
    any.add(both(until_end("a.submitted"),
                 filter.start ? "coalesce(a.allocated, a.ended) >= " + where.time(*filter.start)
                              : std::string()));
  if (!states.ended.empty())
    any.add(both("a.state = ANY(" + where.texts(states.ended) + ")", until_end("a.ended")));
  where.add(any.text());
}

std::uint32_t page_rows(const std::vector<const AccountingColumn*>& columns, std::uint32_t asked) {
  std::uint32_t bytes = 16;
  for (const AccountingColumn* column : columns)
    bytes += static_cast<std::uint32_t>(column->bytes) + 4;
  const std::uint32_t fit = std::clamp<std::uint32_t>(kPageBytes / bytes, 1000, kPageRows);
  return asked == 0 ? fit : std::min(asked, fit);
}

// The requested columns, and those that filters on rows need.
std::vector<const AccountingColumn*> columns_for(const AccountingFilter& filter) {
  auto fields = filter.fields;
  if (!fields.empty() && !filter.nodes.empty())
    fields.push_back(api::AccountingRow::kNodeListFieldNumber);
  if (!fields.empty() && !filter.jobs.empty())
    fields.push_back(api::AccountingRow::kArrayTasksFieldNumber);
  if (!fields.empty() && filter.all_attempts)
    fields.push_back(api::AccountingRow::kEndedFieldNumber);
  return accounting_columns(fields);
}

}  // namespace

std::uint32_t accounting_page(const AccountingFilter& filter) {
  const std::uint32_t rows = page_rows(columns_for(filter), filter.limit);
  return filter.steps ? std::min(rows, kPageRowsWithSteps) : rows;
}

AccountingStatement accounting_statement(const AccountingFilter& filter) {
  AccountingStatement statement;
  statement.columns = columns_for(filter);
  statement.limit = accounting_page(filter);

  std::string list;
  for (const AccountingColumn* column : statement.columns)
    list += (list.empty() ? "a." : ", a.") + std::string(column->column);
  // A page ends after the last row of a job, so that it contains all of the job's attempts.
  const std::string rows = std::to_string(statement.limit);
  const std::string page =
      filter.all_attempts ? " FETCH FIRST " + rows + " ROWS WITH TIES" : " LIMIT " + rows;
  const WantedStates states = sort_states(filter.states);
  const auto arm = [&](const char* table, auto&& window) {
    Conditions where(statement.params);
    where.common(filter);
    window(filter, states, where);
    return "(SELECT " + list + " FROM " + table + " a" + where.sql() +
           " ORDER BY a.job_id, a.task" + page + ")";
  };
  std::string arms;
  if (!states.only_ended()) arms = arm("attempt_live", window_of_live) + " UNION ALL ";
  arms += arm("attempt_done", window_of_done);
  statement.sql = "SELECT * FROM (" + arms + ") AS a ORDER BY a.job_id, a.task" + page;
  return statement;
}

bool row_before(const JobKey& a, const JobKey& b) {
  if (a.job != b.job) return a.job < b.job;
  return task_column(a.task) < task_column(b.task);
}

}  // namespace ares::store
