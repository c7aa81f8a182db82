// The statements of reports: the text consists of constants; values from users are parameters.
#include <string>
#include <utility>

#include "store/accounting/report.h"

namespace ares::store {
namespace {

using Element = ArrayParam::Element;

class Statement {
 public:
  std::string time(Time at) {
    params_.timestamp(at);
    return place("timestamptz");
  }
  std::string texts(const std::vector<std::string>& values) {
    ArrayParam array(Element::text);
    for (const std::string& value : values) array.add(std::string_view(value));
    params_.array(std::move(array));
    return place("text[]");
  }
  std::string numbers(const std::vector<std::uint64_t>& values) {
    ArrayParam array(Element::bigint);
    for (const std::uint64_t value : values) array.add(value);
    params_.array(std::move(array));
    return place("bigint[]");
  }
  // "[lo, hi)" as the arguments of a function.
  std::string span(Time from, Time to) {
    const std::string lo = time(from);
    return lo + ", " + time(to);
  }
  // " WHERE a = ANY(…) AND …" for the lists that are not empty.
  std::string where(
      std::initializer_list<std::pair<const char*, const std::vector<std::string>*>> lists) {
    std::string text;
    for (const auto& [column, values] : lists) {
      if (values->empty()) continue;
      text += (text.empty() ? " WHERE " : " AND ") + std::string(column) + " = ANY(" +
              texts(*values) + ")";
    }
    return text;
  }
  ReportStatement finish(std::string sql) { return {std::move(sql), std::move(params_)}; }

 private:
  std::string place(const char* type) const {
    return "$" + std::to_string(params_.values().size()) + "::" + type;
  }

  PgParams params_;
};

// Columns that a kind of report fills in. The others are constants.
struct Columns {
  std::string account = "''", user = "''", qos = "''", tres = "''", reservation = "''";
  std::string size = "0", allocated = "0", down = "0", drained = "0", reserved = "0", idle = "0",
              over = "0", jobs = "0", start = "NULL::timestamptz", end = "NULL::timestamptz",
              nodes = "''", used = "0", wckey = "''";

  std::string list() const {
    std::string text;
    for (const std::string* column : {&account, &user, &qos, &tres, &reservation})
      text += *column + "::text, ";
    for (const std::string* column :
         {&size, &allocated, &down, &drained, &reserved, &idle, &over, &jobs})
      text += *column + "::bigint, ";
    return text + start + ", " + end + ", " + nodes + "::text, " + used + "::bigint, " + wckey +
           "::text";
  }
};

constexpr const char* kTresName = "coalesce(t.name, s.tres_id::text)";
constexpr const char* kOrder = " ORDER BY 1, 2, 3, 18, 5, 14, 6, 4";

// "usage_day": the table with the sums of a level.
std::string table(const char* what, RollupLevel level) {
  constexpr const char* kUnits[] = {"", "hour", "day", "month"};
  return std::string(what) + "_" + kUnits[static_cast<std::size_t>(level)];
}

ReportStatement utilization(const ReportFilter& filter, const std::vector<TimeSlice>& slices) {
  constexpr const char* kSums =
      "tres_id, sum(allocated) AS allocated, sum(down) AS down, sum(drained) AS drained, "
      "sum(reserved) AS reserved, sum(idle) AS idle, sum(over) AS over";
  Statement statement;
  std::string arms;
  for (const TimeSlice& slice : slices) {
    if (!arms.empty()) arms += " UNION ALL ";
    if (slice.level == RollupLevel::records)
      arms += std::string("SELECT ") + kSums + " FROM capacity_between(" +
              statement.span(slice.from, slice.to) + ") GROUP BY tres_id";
    else
      arms += std::string("SELECT ") + kSums + " FROM " + table("capacity", slice.level) +
              " WHERE began >= " + statement.time(slice.from) + " AND began < " +
              statement.time(slice.to) + " GROUP BY tres_id";
  }
  Columns columns;
  columns.tres = kTresName;
  columns.allocated = "sum(s.allocated)";
  columns.down = "sum(s.down)";
  columns.drained = "sum(s.drained)";
  columns.reserved = "sum(s.reserved)";
  columns.idle = "sum(s.idle)";
  columns.over = "sum(s.over)";
  return statement.finish(
      "SELECT " + columns.list() + " FROM (" + arms + ") AS s LEFT JOIN tres t USING (tres_id)" +
      statement.where({{"t.name", &filter.tres}}) + " GROUP BY s.tres_id, t.name" + kOrder);
}

// Adds the grouping columns; the result is the list for GROUP BY.
std::string group(const ReportFilter& filter, Columns& columns, std::string by) {
  const auto add = [&](bool wanted, std::string& column, const char* name) {
    if (!wanted) return;
    column = name;
    by += std::string(by.empty() ? "" : ", ") + name;
  };
  add(filter.by_account, columns.account, "s.account");
  add(filter.by_user, columns.user, "s.user_name");
  add(filter.by_qos, columns.qos, "s.qos");
  add(filter.by_wckey, columns.wckey, "s.wckey");
  return by;
}

ReportStatement usage(const ReportFilter& filter, const std::vector<TimeSlice>& slices) {
  constexpr const char* kFields = "account, user_name, qos, wckey, tres_id, seconds";
  Statement statement;
  std::string arms;
  for (const TimeSlice& slice : slices) {
    if (!arms.empty()) arms += " UNION ALL ";
    if (slice.level == RollupLevel::records)
      arms += std::string("SELECT ") + kFields + " FROM usage_between(" +
              statement.span(slice.from, slice.to) + ")";
    else  // summed before names are joined
      arms += std::string("SELECT ") + kFields +
              " FROM (SELECT key_id, tres_id, sum(seconds) AS seconds FROM " +
              table("usage", slice.level) + " WHERE began >= " + statement.time(slice.from) +
              " AND began < " + statement.time(slice.to) +
              " GROUP BY key_id, tres_id) AS u JOIN usage_key USING (key_id)";
  }
  Columns columns;
  const std::string by = group(filter, columns, "s.tres_id, t.name");
  columns.tres = kTresName;
  columns.allocated = "sum(s.seconds)";
  return statement.finish("SELECT " + columns.list() + " FROM (" + arms +
                          ") AS s LEFT JOIN tres t USING (tres_id)" +
                          statement.where({{"s.account", &filter.accounts},
                                           {"s.user_name", &filter.users},
                                           {"s.qos", &filter.qos},
                                           {"s.wckey", &filter.wckeys},
                                           {"t.name", &filter.tres}}) +
                          " GROUP BY " + by + kOrder);
}

ReportStatement sizes(const ReportFilter& filter) {
  Statement statement;
  const std::string size = "width_bucket(h.cpus, " + statement.numbers(filter.sizes) + ")";
  const std::string held = "held_between(" + statement.span(filter.start, filter.end) + ")";
  Columns columns;
  const std::string by = group(filter, columns, "s.size, s.tres_id, t.name");
  columns.tres = kTresName;
  columns.size = "s.size";
  columns.allocated = "sum(s.count * s.length)";
  columns.jobs = "count(*)";
  return statement.finish(
      "SELECT " + columns.list() + " FROM (SELECT h.account, h.user_name, h.qos, h.wckey, " + size +
      " AS size, h.ended - h.began AS length, u.tres_id, u.count FROM " + held +
      " h CROSS JOIN LATERAL unnest(h.tres_ids, h.tres_counts) AS u (tres_id, count) "
      "WHERE h.began < h.ended) AS s LEFT JOIN tres t USING (tres_id)" +
      statement.where({{"s.account", &filter.accounts},
                       {"s.user_name", &filter.users},
                       {"s.qos", &filter.qos},
                       {"s.wckey", &filter.wckeys},
                       {"t.name", &filter.tres}}) +
      " GROUP BY " + by + kOrder);
}

// Nodes are counted for each job, so jobs that share a node may exceed the capacity: capped.
ReportStatement reservations(const ReportFilter& filter) {
  Statement statement;
  const std::string span = statement.span(filter.start, filter.end);
  const auto within = [](const char* a) {
    const std::string x = a;
    return "sum(" + x + ".count * (least(" + x + ".ended, r.ended) - greatest(" + x +
           ".began, r.began)))";
  };
  const auto join = [](const char* a) {
    const std::string x = a;
    return x + ".node_id = r.node_id AND " + x + ".began < r.ended AND " + x + ".ended > r.began";
  };
  Columns columns;
  columns.tres = kTresName;
  columns.reservation = "s.name";
  columns.allocated = "least(coalesce(u.seconds, 0), s.seconds)";
  columns.idle = "greatest(s.seconds - coalesce(u.seconds, 0), 0)";
  columns.start = "greatest(s.starts, " + statement.time(filter.start) + ")";
  columns.end = "least(s.ends, " + statement.time(filter.end) + ")";
  columns.nodes = "s.node_list";
  return statement.finish(
      "WITH r AS MATERIALIZED (SELECT * FROM reserved_between(" + span + ")" +
      statement.where({{"name", &filter.reservations}}) +
      "), has AS (SELECT r.name, r.starts, r.ends, min(r.node_list) AS node_list, n.tres_id, " +
      within("n") + " AS seconds FROM r JOIN nodes_between(" + span + ") n ON " + join("n") +
      " GROUP BY r.name, r.starts, r.ends, n.tres_id), "
      "used AS (SELECT r.name, r.starts, r.ends, h.tres_id, " +
      within("h") + " AS seconds FROM r JOIN shares_between(" + span + ") h ON " + join("h") +
      " GROUP BY r.name, r.starts, r.ends, h.tres_id) "
      "SELECT " +
      columns.list() +
      " FROM has s LEFT JOIN used u USING (name, starts, ends, tres_id) "
      "LEFT JOIN tres t ON t.tres_id = s.tres_id" +
      statement.where({{"t.name", &filter.tres}}) + kOrder);
}

// Attempts that ended in the period: held from start to end, and used. Only CPUs and memory are
// measured. Memory used is the maximum of all nodes, assumed for each node.
ReportStatement efficiency(const ReportFilter& filter) {
  Statement statement;
  const std::string lo = statement.time(filter.start), hi = statement.time(filter.end);
  Columns columns;
  const std::string by = group(filter, columns, "u.tres");
  columns.tres = "u.tres";
  columns.allocated = "sum(u.held)";
  columns.used = "sum(u.used)";
  columns.jobs = "count(*)";
  std::string sql =
      "SELECT " + columns.list() +
      " FROM (SELECT a.account, a.user_name, a.qos, a.wckey, a.cpus, a.node_count, a.user_cpu, "
      "a.system_cpu, "
      "a.max_rss, a.tres_ids, a.tres_counts, extract(epoch FROM a.ended - a.started) AS length "
      // In whole seconds, like the time held: an end within a second counts as its beginning.
      "FROM attempt_done a WHERE a.started IS NOT NULL AND a.ended >= " +
      lo + " + interval '1 second' AND a.ended < " + hi +
      " + interval '1 second') AS s CROSS JOIN LATERAL (VALUES "
      "('cpu', s.cpus * s.length, (s.user_cpu + s.system_cpu) / 1e6), "
      "('mem', s.tres_counts[array_position(s.tres_ids, 2)] * s.length, "
      "s.max_rss / 1048576.0 * s.node_count * s.length)) AS u (tres, held, used)";
  std::string where = statement.where({{"s.account", &filter.accounts},
                                       {"s.user_name", &filter.users},
                                       {"s.qos", &filter.qos},
                                       {"s.wckey", &filter.wckeys},
                                       {"u.tres", &filter.tres}});
  return statement.finish(sql + where + (where.empty() ? " WHERE" : " AND") +
                          " u.held IS NOT NULL GROUP BY " + by + kOrder);
}

}  // namespace

ReportStatement report_statement(const ReportFilter& filter, const std::vector<TimeSlice>& slices) {
  switch (filter.kind) {
    case api::Report::USAGE: return usage(filter, slices);
    case api::Report::SIZES: return sizes(filter);
    case api::Report::RESERVATIONS: return reservations(filter);
    case api::Report::EFFICIENCY: return efficiency(filter);
    default: return utilization(filter, slices);
  }
}

}  // namespace ares::store
