#include "store/pg/pg_attempts.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/saturating.h"
#include "store/pg/pg_task.h"

namespace ares::store {
namespace {

using Element = ArrayParam::Element;

// A row of `attempt_live` and `attempt_done`, and below its columns: name, type, and how to fill them. `fixed` columns never change
// between two images of an attempt.
struct Row {
  const Attempt& attempt;
  const Catalogue& catalogue;
  Usage usage;                              // sum of all nodes
  const NodeShare* largest = nullptr;       // node with the highest memory use
  const NodeShare* most_read = nullptr;     // node that read the most from storage
  const NodeShare* most_written = nullptr;  // node that wrote the most
  std::uint64_t cpus = 0;
  TresCounts tres;
  std::vector<std::int64_t> node_shares;  // `tres` of each node; empty = equal on all nodes
  std::optional<Time> released;
};

struct Column {
  const char* name;
  Element type;
  bool fixed;
  void (*fill)(ArrayParam& out, const Row& row);
  const char* cast =
      "";  // from the elements' type to the column's type, if SQL has no implicit conversion
};

std::string array_text(const JobSpec& spec) {
  std::string text = format_interval_set(*spec.array);
  if (spec.array_throttle) text += "%" + std::to_string(spec.array_throttle);
  return text;
}

std::optional<Time> known(Time time) {
  return time == Time{} ? std::nullopt : std::optional(time);
}

void add_if_any(ArrayParam& out, std::string_view text) {
  if (text.empty())
    out.add_null();
  else
    out.add(text);
}

// "{1,5}": an array in PostgreSQL's text form.
template <class Items, class Number>
std::string array_literal(const Items& items, Number&& number) {
  std::string text = "{";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += std::to_string(number(item));
  }
  return text + '}';
}

std::string join(const std::vector<std::string>& words, char separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

// The state shown in reports: an attempt cancelled to run again is REQUEUED, not CANCELLED.
std::string_view state_text(const Attempt& attempt) {
  const bool again = attempt.state == JobState::cancelled && attempt.reason == Reason::requeued;
  return again ? "REQUEUED" : to_string(attempt.state);
}

// Seconds; none = unlimited, 0 = the partition's default, which is resolved only at allocation.
std::optional<std::int64_t> time_limit(const Attempt& attempt) {
  if (!attempt.allocation.nodes.empty())
    return attempt.allocation.time_limit
               ? std::optional<std::int64_t>(attempt.allocation.time_limit->count())
               : std::nullopt;
  if (!attempt.time_limit) return 0;
  return attempt.time_limit->count() == 0
             ? std::nullopt
             : std::optional<std::int64_t>(attempt.time_limit->count());
}

// End time of a finished attempt. A damaged image must not prevent writing the other rows.
Time end_of(const Attempt& attempt) {
  return attempt.ended.value_or(attempt.started.value_or(attempt.submitted));
}

std::string node_name_of(const Row& row, const NodeShare* share) {
  return share ? row.catalogue.node_name(share->node) : std::string();
}

constexpr auto kInt = Element::bigint;
constexpr auto kText = Element::text;
constexpr auto kTime = Element::timestamptz;

const Column kColumns[] = {
    {"job_id", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.key.job.job.value()); }},
    {"task", kInt, true, [](auto& o, auto& r) { o.add(task_column(r.attempt.key.job.task)); }},
    {"attempt", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.key.attempt.value()); }},
    {"own_id", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.own_id.value()); }},
    {"uid", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.spec->uid.value()); }},
    {"gid", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.spec->gid.value()); }},
    {"submitted", kTime, true, [](auto& o, auto& r) { o.add(r.attempt.submitted); }},
    {"eligible", kTime, false, [](auto& o, auto& r) { o.add(known(r.attempt.eligible)); }},
    {"allocated", kTime, false, [](auto& o, auto& r) { o.add(known(r.attempt.allocation.at)); }},
    {"started", kTime, false, [](auto& o, auto& r) { o.add(r.attempt.started); }},
    {"ended", kTime, true,
     [](auto& o, auto& r) {
       if (is_terminal(r.attempt.state))
         o.add(end_of(r.attempt));
       else
         o.add_null();
     }},
    {"user_cpu", kInt, false, [](auto& o, auto& r) { o.add(r.usage.user_cpu.count()); }},
    {"system_cpu", kInt, false, [](auto& o, auto& r) { o.add(r.usage.system_cpu.count()); }},
    {"max_rss", kInt, false, [](auto& o, auto& r) { o.add(r.usage.max_rss.value()); }},
    {"disk_read", kInt, false, [](auto& o, auto& r) { o.add(r.usage.disk_read.value()); }},
    {"disk_written", kInt, false, [](auto& o, auto& r) { o.add(r.usage.disk_written.value()); }},
    {"max_disk_read", kInt, false, [](auto& o, auto& r) { o.add(r.most_read ? r.most_read->usage.disk_read.value() : 0); }},
    {"max_disk_written", kInt, false, [](auto& o, auto& r) { o.add(r.most_written ? r.most_written->usage.disk_written.value() : 0); }},
    {"time_limit", kInt, false, [](auto& o, auto& r) { o.add(time_limit(r.attempt)); }},
    {"cpus", kInt, false, [](auto& o, auto& r) { o.add(r.cpus); }},
    {"tasks", kInt, true, [](auto& o, auto& r) { o.add(r.attempt.spec->tasks); }},
    {"priority", kInt, false, [](auto& o, auto& r) { o.add(r.attempt.priority); }},
    {"restarts", kInt, false, [](auto& o, auto& r) { o.add(r.attempt.restarts); }},
    {"cancelled_by", kInt, false,
     [](auto& o, auto& r) {
       if (r.attempt.cancelled_by)
         o.add(r.attempt.cancelled_by->value());
       else
         o.add_null();
     }},
    {"exit_code", kInt, false, [](auto& o, auto& r) { o.add(r.attempt.exit.code); }},
    {"exit_signal", kInt, false, [](auto& o, auto& r) { o.add(r.attempt.exit.signal); }},
    {"node_count", kInt, false,
     [](auto& o, auto& r) { o.add(std::uint64_t{r.attempt.allocation.nodes.size()}); }},
    {"superseded", kInt, false, [](auto& o, auto& r) { o.add(std::int64_t{r.attempt.superseded}); },
     "::integer::boolean"},
    {"exclusive", kInt, true,
     [](auto& o, auto& r) { o.add(std::int64_t{r.attempt.spec->exclusive}); },
     "::integer::boolean"},
    {"name", kText, true, [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->name)); }},
    {"user_name", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->user)); }},
    {"account", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->account)); }},
    {"qos", kText, true, [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->qos)); }},
    {"wckey", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->wckey)); }},
    {"charged_to", kText, false,
     [](auto& o, auto& r) {
       const ChargedTo& to = r.attempt.allocation.charged_to;
       if (to == ChargedTo{})
         o.add_null();
       else
         o.add(std::string_view(array_literal(
             std::array<std::uint64_t, 8>{to.association.value(), to.qos.value(), to.wckey.value(),
                                          to.billing, to.still_billing, to.factor,
                                          to.partition_qos.value(), to.account.value()},
             [](std::uint64_t number) { return static_cast<std::int64_t>(number); })));
     },
     "::bigint[]"},
    {"held", kText, false,
     [](auto& o, auto& r) {
       std::string text;
       for (const TresAmount& one : tres_of(r.attempt.allocation))
         text += (text.empty() ? "" : ",") + one.tres + "=" + std::to_string(one.amount);
       const std::uint64_t exact = cpu_thousandths_held(r.attempt.allocation);
       if (exact != r.cpus * kWholeCpu) text += "," + std::string(kCpuThousandths) + "=" + std::to_string(exact);
       add_if_any(o, text);
     }},
    {"partition", kText, false,
     [](auto& o, auto& r) {
       const std::string& given = r.attempt.allocation.partition;
       o.add(std::string_view(given.empty() ? join(r.attempt.spec->partitions, ',') : given));
     }},
    {"state", kText, false, [](auto& o, auto& r) { o.add(state_text(r.attempt)); }},
    {"reason", kText, false, [](auto& o, auto& r) { o.add(to_string(r.attempt.reason)); }},
    {"node_list", kText, false,
     [](auto& o, auto& r) {
       o.add(std::string_view(r.catalogue.node_list(r.attempt.allocation)));
     }},
    {"max_rss_node", kText, false,
     [](auto& o, auto& r) {
       add_if_any(o, node_name_of(r, r.largest));
     }},
    {"requested_tres", kText, true,
     [](auto& o, auto& r) {
       o.add(std::string_view(Catalogue::text(Catalogue::requested(*r.attempt.spec))));
     }},
    {"allocated_tres", kText, false,
     [](auto& o, auto& r) {
       o.add(std::string_view(Catalogue::text(r.catalogue.allocated(r.attempt.allocation))));
     }},
    {"tres_ids", kText, false,
     [](auto& o, auto& r) {
       o.add(std::string_view(array_literal(r.tres, [](auto& t) { return t.first.value(); })));
     },
     "::integer[]"},
    {"tres_counts", kText, false,
     [](auto& o, auto& r) {
       o.add(std::string_view(array_literal(r.tres, [](auto& t) { return t.second; })));
     },
     "::bigint[]"},
    {"released", kTime, true, [](auto& o, auto& r) { o.add(r.released); }},
    {"node_ids", kText, false,
     [](auto& o, auto& r) {
       o.add(std::string_view(
           array_literal(r.attempt.allocation.nodes, [](auto& n) { return n.node.value(); })));
     },
     "::bigint[]"},
    {"node_shares", kText, false,
     [](auto& o, auto& r) {
       if (r.node_shares.empty())
         o.add_null();
       else
         o.add(std::string_view(array_literal(r.node_shares, [](auto count) { return count; })));
     },
     "::bigint[]"},
    {"array_spec", kText, true,
     [](auto& o, auto& r) {
       add_if_any(o, r.attempt.spec->array ? array_text(*r.attempt.spec) : std::string());
     }},
    {"array_tasks", kText, true,
     [](auto& o, auto& r) {
       add_if_any(o, r.attempt.tasks ? format_interval_set(*r.attempt.tasks) : std::string());
     }},
    {"work_dir", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->work_dir)); }},
    {"submit_host", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->submit_host)); }},
    {"submit_zone", kText, true,
     [](auto& o, auto& r) { o.add(std::string_view(r.attempt.spec->submit_zone)); }},
    {"cause", kText, false, [](auto& o, auto& r) { add_if_any(o, r.attempt.cause); }},
    {"comment", kText, true, [](auto& o, auto& r) { add_if_any(o, r.attempt.spec->comment); }},
    {"constraints", kText, true,
     [](auto& o, auto& r) { add_if_any(o, join(r.attempt.spec->features, '&')); }},
    {"std_in", kText, true, [](auto& o, auto& r) { add_if_any(o, r.attempt.spec->std_in); }},
    {"std_out", kText, true, [](auto& o, auto& r) { add_if_any(o, r.attempt.spec->std_out); }},
    {"suspended", kInt, false,
     [](auto& o, auto& r) { o.add(r.attempt.allocation.suspended.count()); }},
    {"suspended_at", kTime, false,
     [](auto& o, auto& r) {
       const auto& now = r.attempt.allocation.suspension;
       o.add(now ? std::optional(now->at) : std::nullopt);
     }},
    {"std_err", kText, true, [](auto& o, auto& r) { add_if_any(o, r.attempt.spec->std_err); }},
    {"submit_line", kText, true,
     [](auto& o, auto& r) { add_if_any(o, r.attempt.spec->submit_line); }},
    {"reservations", kText, true,
     [](auto& o, auto& r) { add_if_any(o, join(r.attempt.spec->reservations, ',')); }},
    {"segment", kInt, true,
     [](auto& o, auto& r) {
       if (r.attempt.spec->segment > 0)
         o.add(std::int64_t{r.attempt.spec->segment});
       else
         o.add_null();
     }},
    {"exclusive_user", kInt, true,
     [](auto& o, auto& r) { o.add(std::int64_t{r.attempt.spec->exclusive_user}); },
     "::integer::boolean"},
    {"container", kText, true,
     [](auto& o, auto& r) {
       const auto& container = r.attempt.spec->container;
       add_if_any(o, container ? container->image : std::string());
     }},
    {"extra", kText, true, [](auto& o, auto& r) { add_if_any(o, r.attempt.spec->extra); }},
    {"max_disk_read_node", kText, false,
     [](auto& o, auto& r) { add_if_any(o, node_name_of(r, r.most_read)); }},
    {"max_disk_written_node", kText, false,
     [](auto& o, auto& r) { add_if_any(o, node_name_of(r, r.most_written)); }},
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

// The statements are generated from the table above, so that both stay consistent. `key`: the columns that identify a row of `table`;
// `changes` selects those of the other columns that are updated.
template <class Changes>
std::string upsert_sql(const char* table, const char* key, Changes&& changes) {
  std::string names, values, aliases, arrays, replaced;
  int position = 0;
  for (const Column& column : kColumns) {
    const std::string name = column.name;
    names += name + ", ";
    values += "n." + name + column.cast + ", ";
    aliases += name + ", ";
    arrays += "$" + std::to_string(++position) + "::" + sql_type(column.type) + ", ";
    if (changes(column)) replaced += name + " = EXCLUDED." + name + ", ";
  }
  for (std::string* list : {&aliases, &arrays, &replaced}) list->resize(list->size() - 2);
  return std::string("INSERT INTO ") + table + " (" + names + "cluster_id) SELECT " + values + "$" +
         std::to_string(position + 1) + "::bigint FROM unnest(" + arrays + ") AS n(" + aliases +
         ") ON CONFLICT (" + key + ") DO UPDATE SET " + replaced;
}

const PgStatement& live_statement() {
  static const std::string sql =
      upsert_sql("attempt_live", "job_id, task", [](const Column&) { return true; });
  static const PgStatement statement{"attempt_live", sql.c_str()};
  return statement;
}

const PgStatement& done_statement() {
  static const std::string sql = upsert_sql("attempt_done", "job_id, task, attempt, ended",
                                            [](const Column& column) { return !column.fixed; });
  static const PgStatement statement{"attempt_done", sql.c_str()};
  return statement;
}

// Deletes finished attempts from the live rows, but not a later attempt of the same job.
constexpr PgStatement kLeave{
    "attempt_leave",
    "DELETE FROM attempt_live l USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) "
    "AS n(job_id, task, attempt) "
    "WHERE l.job_id = n.job_id AND l.task = n.task AND l.attempt <= n.attempt"};

Duration total(Duration a, Duration b) {
  return Duration(capped_sum(a.count(), b.count()));
}

Bytes total(Bytes a, Bytes b) {
  return Bytes(capped_sum(a.value(), b.value()));
}

// Amounts on each node, in the order of `tres`; empty if all nodes are equal.
std::vector<std::int64_t> shares_by_node(const Allocation& allocation, const Catalogue& catalogue,
                                         const TresCounts& tres) {
  std::vector<std::int64_t> shares;
  if (allocation.nodes.size() < 2) return shares;
  for (const NodeShare& share : allocation.nodes) {
    Allocation one;
    one.nodes = {share};
    const TresCounts counts = catalogue.interned(catalogue.allocated(one));
    auto next = counts.begin();
    for (const auto& [id, total] : tres) {
      while (next != counts.end() && next->first < id) ++next;
      shares.push_back(next != counts.end() && next->first == id ? next->second : 0);
    }
  }
  bool equal = true;
  for (std::size_t i = tres.size(); i < shares.size(); ++i)
    equal = equal && shares[i] == shares[i - tres.size()];
  if (equal) shares.clear();
  return shares;
}

Row make_row(const Attempt& attempt, const Catalogue& catalogue, const ReleaseTimes& released) {
  Row row{attempt, catalogue, {}, nullptr, nullptr, nullptr, 0, {}, {}, {}};
  for (const NodeShare& share : attempt.allocation.nodes) {
    row.cpus += share.cpus;
    row.usage.user_cpu = total(row.usage.user_cpu, share.usage.user_cpu);
    row.usage.system_cpu = total(row.usage.system_cpu, share.usage.system_cpu);
    row.usage.disk_read = total(row.usage.disk_read, share.usage.disk_read);
    row.usage.disk_written = total(row.usage.disk_written, share.usage.disk_written);
    const Bytes read = row.most_read ? row.most_read->usage.disk_read : Bytes{};
    const Bytes written = row.most_written ? row.most_written->usage.disk_written : Bytes{};
    if (share.usage.disk_read > read) row.most_read = &share;
    if (share.usage.disk_written > written) row.most_written = &share;
    if (share.usage.max_rss > row.usage.max_rss) {
      row.usage.max_rss = share.usage.max_rss;
      row.largest = &share;
    }
  }
  if (!attempt.allocation.nodes.empty())
    row.tres = catalogue.interned(catalogue.allocated(attempt.allocation));
  row.node_shares = shares_by_node(attempt.allocation, catalogue, row.tres);
  if (is_terminal(attempt.state) && !attempt.allocation.nodes.empty())
    row.released = std::max(released.of(attempt.key.job), end_of(attempt));
  return row;
}

void upsert_step(const PgStatement& statement, const std::vector<const Attempt*>& attempts,
                 ClusterId cluster, const Catalogue& catalogue, const ReleaseTimes& released,
                 std::vector<PgStep>& steps) {
  if (attempts.empty()) return;
  std::vector<ArrayParam> columns;
  for (const Column& column : kColumns) columns.emplace_back(column.type);
  for (const Attempt* attempt : attempts) {
    const Row row = make_row(*attempt, catalogue, released);
    for (std::size_t i = 0; i < columns.size(); ++i) kColumns[i].fill(columns[i], row);
  }
  PgParams params;
  for (ArrayParam& column : columns) params.array(std::move(column));
  params.bigint(std::uint64_t{cluster.value()});
  steps.push_back({&statement, std::move(params)});
}

}  // namespace

std::vector<const PgStatement*> attempt_statements() {
  return {&live_statement(), &done_statement(), &kLeave};
}

ReleaseTimes::ReleaseTimes(const Batch& batch) : otherwise_(batch.now) {
  for (const auto& event : batch.events) {
    if (const auto* ended = std::get_if<Ended>(&event->body)) at_[ended->key] = event->at;
    if (const auto* again = std::get_if<Requeued>(&event->body)) at_[again->key] = event->at;
  }
}

Time ReleaseTimes::of(const JobKey& job) const {
  const auto known = at_.find(job);
  return known != at_.end() ? known->second : otherwise_;
}

void attempt_steps(const std::vector<const Attempt*>& attempts, ClusterId cluster,
                   const Catalogue& catalogue, const ReleaseTimes& released,
                   std::vector<PgStep>& steps) {
  std::vector<const Attempt*> done;
  std::map<JobKey, const Attempt*> live;  // a job has one live attempt: the last
  for (const Attempt* attempt : attempts) {
    if (is_terminal(attempt->state)) {
      done.push_back(attempt);
      continue;
    }
    const Attempt*& last = live[attempt->key.job];
    if (!last || last->key.attempt < attempt->key.attempt) last = attempt;
  }

  ArrayParam job(kInt), task(kInt), number(kInt);
  for (const Attempt* attempt : done) {
    if (attempt->allocation.nodes.empty()) continue;  // it never had a live row
    job.add(attempt->key.job.job.value());
    task.add(task_column(attempt->key.job.task));
    number.add(attempt->key.attempt.value());
  }
  if (job.size() > 0) {
    PgParams params;
    params.array(std::move(job)).array(std::move(task)).array(std::move(number));
    steps.push_back({&kLeave, std::move(params)});
  }
  upsert_step(done_statement(), done, cluster, catalogue, released, steps);
  std::vector<const Attempt*> lives;
  for (const auto& [key, attempt] : live) lives.push_back(attempt);
  upsert_step(live_statement(), lives, cluster, catalogue, released, steps);
}

}  // namespace ares::store
