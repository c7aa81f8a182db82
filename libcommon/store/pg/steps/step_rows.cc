#include "store/pg/steps/step_rows.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "store/pg/pg_task.h"

namespace ares::store {
namespace {

using Element = ArrayParam::Element;

// A column of the table, and how to fill it.
struct Column {
  const char* name;
  Element type;
  void (*fill)(ArrayParam& out, const AttemptKey& attempt, const StepRecord& step);
};

std::int64_t micros(Duration time) {
  return time.count();
}

constexpr Column kColumns[] = {
    {"job_id", Element::bigint, [](auto& o, auto& a, auto&) { o.add(a.job.job.value()); }},
    {"task", Element::bigint, [](auto& o, auto& a, auto&) { o.add(task_column(a.job.task)); }},
    {"attempt", Element::bigint,
     [](auto& o, auto& a, auto&) { o.add(std::int64_t{a.attempt.value()}); }},
    {"step", Element::bigint, [](auto& o, auto&, auto& s) { o.add(s.number); }},
    {"started", Element::timestamptz,
     [](auto& o, auto&, auto& s) { o.add(std::optional(s.started)); }},
    {"ended", Element::timestamptz,
     [](auto& o, auto&, auto& s) { o.add(std::optional(s.ended.value_or(s.started))); }},
    {"user_cpu", Element::bigint, [](auto& o, auto&, auto& s) { o.add(micros(s.user_cpu)); }},
    {"system_cpu", Element::bigint, [](auto& o, auto&, auto& s) { o.add(micros(s.system_cpu)); }},
    {"max_rss", Element::bigint, [](auto& o, auto&, auto& s) { o.add(s.max_rss.value()); }},
    {"sum_rss", Element::bigint, [](auto& o, auto&, auto& s) { o.add(s.sum_rss.value()); }},
    {"disk_read", Element::bigint, [](auto& o, auto&, auto& s) { o.add(s.disk_read.value()); }},
    {"disk_written", Element::bigint,
     [](auto& o, auto&, auto& s) { o.add(s.disk_written.value()); }},
    {"steps", Element::bigint, [](auto& o, auto&, auto& s) { o.add(std::int64_t{s.steps}); }},
    {"tasks", Element::bigint, [](auto& o, auto&, auto& s) { o.add(std::int64_t{s.tasks}); }},
    {"cpus", Element::bigint, [](auto& o, auto&, auto& s) { o.add(std::int64_t{s.cpus}); }},
    {"cancelled_by", Element::bigint,
     [](auto& o, auto&, auto& s) {
       if (s.cancelled_by)
         o.add(std::int64_t{s.cancelled_by->value()});
       else
         o.add_null();
     }},
    {"node_count", Element::bigint, [](auto& o, auto&, auto& s) { o.add(std::int64_t{s.nodes}); }},
    {"exit_code", Element::bigint,
     [](auto& o, auto&, auto& s) { o.add(std::int64_t{s.exit_code}); }},
    {"exit_signal", Element::bigint,
     [](auto& o, auto&, auto& s) { o.add(std::int64_t{s.exit_signal}); }},
    {"name", Element::text, [](auto& o, auto&, auto& s) { o.add(std::string_view(s.name)); }},
    {"state", Element::text, [](auto& o, auto&, auto& s) { o.add(to_string(s.state)); }},
    {"node_list", Element::text,
     [](auto& o, auto&, auto& s) { o.add(std::string_view(s.node_list)); }},
    {"max_rss_node", Element::text,
     [](auto& o, auto&, auto& s) { o.add(std::string_view(s.max_rss_node)); }},
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

const PgStatement& statement() {
  static const std::string sql = [] {
    std::string names, arrays;
    int position = 0;
    for (const Column& column : kColumns) {
      if (position > 0) names += ", ", arrays += ", ";
      names += column.name;
      arrays += "$" + std::to_string(++position) + "::" + sql_type(column.type);
    }
    return "INSERT INTO attempt_step (" + names + ") SELECT " + names + " FROM unnest(" + arrays +
           ") AS n(" + names + ") ON CONFLICT DO NOTHING";
  }();
  static const PgStatement made{"attempt_step", sql.c_str()};
  return made;
}

}  // namespace

std::vector<const PgStatement*> step_row_statements() {
  return {&statement()};
}

void step_row_steps(const Batch& batch, std::vector<PgStep>& steps) {
  std::vector<ArrayParam> columns;
  for (const Column& column : kColumns) columns.emplace_back(column.type);
  bool any = false;
  for (const auto& event : batch.events) {
    const auto* reported = std::get_if<StepsReported>(&event->body);
    if (!reported) continue;
    for (const StepRecord& step : reported->steps) {
      any = true;
      for (std::size_t i = 0; i < std::size(kColumns); ++i)
        kColumns[i].fill(columns[i], reported->attempt, step);
    }
  }
  if (!any) return;
  PgParams params;
  for (ArrayParam& column : columns) params.array(std::move(column));
  steps.push_back({&statement(), std::move(params)});
}

}  // namespace ares::store
