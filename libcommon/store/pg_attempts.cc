#include "store/pg_attempts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "store/pg_rows.h"
#include "store/saturating.h"

namespace ares::store {
namespace {

using Element = ArrayParam::Element;

// A column of `attempt`: its name, its type, and how a row fills it. `fixed` ones are written once.
struct Row {
  const Attempt& attempt;
  const Catalogue& catalogue;
  Usage usage;  // over all nodes
  std::uint64_t cpus = 0;
};

struct Column {
  const char* name;
  Element type;
  bool fixed;
  void (*fill)(ArrayParam& out, const Row& row);
};

// An indexed column may not be longer than a third of a page.
std::string key_text(const std::string& text) {
  return clean_text(text, 256);
}

std::string array_text(const JobSpec& spec) {
  std::string text = format_interval_set(*spec.array);
  if (spec.array_throttle) text += "%" + std::to_string(spec.array_throttle);
  return text;
}

std::optional<Time> known(Time time) {
  return time == Time{} ? std::nullopt : std::optional(time);
}

constexpr auto kInt = Element::bigint;
constexpr auto kText = Element::text;
constexpr auto kTime = Element::timestamptz;

const Column kColumns[] = {
    {"job_id", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.key.job.job.value()); }},
    {"task", kInt, true, [](auto& o, auto& r) { o.add(task_column(r.attempt.key.job.task)); }},
    {"attempt", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.key.attempt.value()); }},
    {"own_id", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.own_id.value()); }},
    {"array_spec", kText, true,
     [](auto& o, auto& r) {
       if (r.attempt.spec->array)
         o.add(std::string_view(array_text(*r.attempt.spec)));
       else
         o.add_null();
     }},
    {"name", kText, true, [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->name)); }},
    {"user_name", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(key_text(r.attempt.spec->user))); }},
    {"uid", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.spec->uid.value()); }},
    {"gid", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.spec->gid.value()); }},
    {"account", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->account)); }},
    {"qos", kText, true, [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->qos)); }},
    {"partition", kText, false,
     [](auto& o, auto& r) {
       const auto& asked = r.attempt.spec->partitions;
       const auto& given = r.attempt.allocation.partition;
       o.add(std::string_view(given.empty() && !asked.empty() ? asked.front() : given));
     }},
    {"state", kText, false, [](auto& o, auto& r) { o.add(to_string(r.attempt.state)); }},
    {"reason", kText, false, [](auto& o, auto& r) { o.add(to_string(r.attempt.reason)); }},
    {"cancelled_by", kInt, false,
     [](auto& o, auto& r) {
       if (r.attempt.cancelled_by)
         o.add(r.attempt.cancelled_by->value());
       else
         o.add_null();
     }},
    {"submitted", kTime, true, [](auto& o, auto& r) { o.add(r.attempt.submitted); }},
    {"eligible", kTime, false, [](auto& o, auto& r) { o.add(known(r.attempt.eligible)); }},
    {"allocated", kTime, false, [](auto& o, auto& r) { o.add(known(r.attempt.allocation.at)); }},
    {"started", kTime, false, [](auto& o, auto& r) { o.add(r.attempt.started); }},
    {"ended", kTime, false, [](auto& o, auto& r) { o.add(r.attempt.ended); }},
    {"exit_code", kInt, false, [](auto& o, auto& r) { o.add(r.attempt.exit.code); }},
    {"exit_signal", kInt, false, [](auto& o, auto& r) { o.add(r.attempt.exit.signal); }},
    {"node_count", kInt, false,
     [](auto& o, auto& r) { o.add(std::uint64_t{r.attempt.allocation.nodes.size()}); }},
    {"cpus", kInt, false, [](auto& o, auto& r) { o.add(r.cpus); }},
    {"node_list", kText, false,
     [](auto& o, auto& r) {
       o.add(std::string_view(r.catalogue.node_list(r.attempt.allocation)));
     }},
    {"requested_tres", kText, true,
     [](auto& o, auto& r) {
       o.add(std::string_view(Catalogue::text(Catalogue::requested(*r.attempt.spec))));
     }},
    {"allocated_tres", kText, false,
     [](auto& o, auto& r) {
       o.add(std::string_view(Catalogue::text(r.catalogue.allocated(r.attempt.allocation))));
     }},
    {"user_cpu", kInt, false, [](auto& o, auto& r) { o.add(r.usage.user_cpu.count()); }},
    {"system_cpu", kInt, false, [](auto& o, auto& r) { o.add(r.usage.system_cpu.count()); }},
    {"max_rss", kInt, false, [](auto& o, auto& r) { o.add(r.usage.max_rss.value()); }},
    {"time_limit", kInt, false,
     [](auto& o, auto& r) {
       if (r.attempt.allocation.time_limit)
         o.add(std::int64_t{r.attempt.allocation.time_limit->count()});
       else
         o.add_null();
     }},
    {"restarts", kInt, false, [](auto& o, auto& r) { o.add(r.attempt.restarts); }},
    {"work_dir", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->work_dir)); }},
    {"submit_host", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->submit_host)); }},
    {"submit_zone", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->submit_zone)); }},
};

const char* sql_type(Element element) {
  switch (element) {
    case Element::bigint: return "bigint[]";
    case Element::text: return "text[]";
    case Element::bytea: return "bytea[]";
    case Element::timestamptz: return "timestamptz[]";
  }
  return "";
}

// The statement follows from the table above, so that the two cannot drift apart.
const std::string& attempt_sql() {
  static const std::string sql = [] {
    std::string names, arrays, changes;
    int position = 0;
    for (const Column& column : kColumns) {
      names += std::string(column.name) + ", ";
      arrays += "$" + std::to_string(++position) + "::" + sql_type(column.type) + ", ";
      if (!column.fixed) changes += std::string(column.name) + " = EXCLUDED." + column.name + ", ";
    }
    for (std::string* list : {&arrays, &changes}) list->resize(list->size() - 2);
    return "INSERT INTO attempt (" + names + "cluster_id) SELECT n.*, $" +
           std::to_string(position + 1) + "::bigint FROM unnest(" + arrays +
           ") AS n ON CONFLICT (job_id, task, attempt) DO UPDATE SET " + changes;
  }();
  return sql;
}

const PgStatement& attempt_statement() {
  static const PgStatement statement{"attempt", attempt_sql().c_str()};
  return statement;
}

constexpr PgStatement kAttemptTres{
    "attempt_tres",
    "INSERT INTO attempt_tres (job_id, task, attempt, segment, tres_id, count, began, ended) "
    "SELECT job_id, task, attempt, 0, tres_id, count, began, ended FROM unnest("
    "$1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], "
    "$7::timestamptz[]) AS n(job_id, task, attempt, tres_id, count, began, ended) "
    "ON CONFLICT (job_id, task, attempt, segment, tres_id) DO UPDATE SET ended = EXCLUDED.ended "
    "WHERE attempt_tres.ended IS DISTINCT FROM EXCLUDED.ended"};

Duration plus(Duration a, Duration b) {
  return Duration(store::plus(a.count(), b.count()));
}

Row make_row(const Attempt& attempt, const Catalogue& catalogue) {
  Row row{attempt, catalogue, {}, 0};
  for (const NodeShare& share : attempt.allocation.nodes) {
    row.cpus += share.cpus;
    row.usage.user_cpu = plus(row.usage.user_cpu, share.usage.user_cpu);
    row.usage.system_cpu = plus(row.usage.system_cpu, share.usage.system_cpu);
    row.usage.max_rss = std::max(row.usage.max_rss, share.usage.max_rss);
  }
  return row;
}

}  // namespace

std::vector<const PgStatement*> attempt_statements() {
  return {&attempt_statement(), &kAttemptTres};
}

void attempt_steps(const std::vector<const Attempt*>& attempts, ClusterId cluster,
                   const Catalogue& catalogue, std::vector<PgStep>& steps) {
  if (attempts.empty()) return;
  std::vector<ArrayParam> columns;
  for (const Column& column : kColumns) columns.emplace_back(column.type);
  ArrayParam job(kInt), task(kInt), number(kInt), tres(kInt), count(kInt), began(kTime),
      ended(kTime);
  for (const Attempt* attempt : attempts) {
    const Row row = make_row(*attempt, catalogue);
    for (std::size_t i = 0; i < columns.size(); ++i) kColumns[i].fill(columns[i], row);
    if (attempt->allocation.nodes.empty()) continue;
    for (const auto& [id, amount] : catalogue.interned(catalogue.allocated(attempt->allocation))) {
      job.add(attempt->key.job.job.value());
      task.add(task_column(attempt->key.job.task));
      number.add(attempt->key.attempt.value());
      tres.add(id.value());
      count.add(amount);
      began.add(attempt->allocation.at);
      ended.add(attempt->ended);
    }
  }
  PgParams params;
  for (ArrayParam& column : columns) params.array(std::move(column));
  params.bigint(std::uint64_t{cluster.value()});
  steps.push_back({&attempt_statement(), std::move(params)});
  if (tres.size() == 0) return;
  PgParams usage;
  usage.array(std::move(job)).array(std::move(task)).array(std::move(number));
  usage.array(std::move(tres)).array(std::move(count)).array(std::move(began));
  usage.array(std::move(ended));
  steps.push_back({&kAttemptTres, std::move(usage)});
}

}  // namespace ares::store
