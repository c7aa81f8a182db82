#include "aresctld/accounting/accounting.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "aresctld/accounting/waiting_rows.h"
#include "base/interval_set.h"
#include "base/printable.h"
#include "core/accounts/account_directory.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

using Row = api::AccountingRow;

template <class Value, class Field>
std::vector<Value> list(const Field& field) {
  return {field.begin(), field.end()};
}

// Accepts REQUEUED in addition to the states of jobs: it exists only for attempts.
Result<std::string> state_name(const std::string& text) {
  if (text == "REQUEUED" || text == "RQ") return std::string("REQUEUED");
  const auto state = parse_job_state(text);
  if (!state) return fail(ErrorCode::invalid_argument, "unknown job state " + quote(text));
  return std::string(to_string(*state));
}

// Users are searched by uid, which is indexed; names that no longer exist by name.
void add_people(const api::Accounting& query, Identity& identity, store::AccountingFilter& filter) {
  for (const std::string& name : query.users()) {
    if (const auto uid = identity.uid_of(name))
      filter.uids.push_back(uid->value());
    else
      filter.users.push_back(name);
  }
}

Result<store::AccountingFilter> to_filter(const api::Accounting& query, Identity& identity) {
  store::AccountingFilter filter;
  add_people(query, identity, filter);
  for (const std::string& name : query.groups()) {
    const auto gid = identity.gid_of(name);
    if (!gid) return fail(ErrorCode::invalid_argument, "unknown group " + quote(name));
    filter.gids.push_back(gid->value());
  }
  for (const auto& ref : query.jobs()) {
    auto key = proto::from_api(ref);
    if (!key) return fail(key.error());
    filter.jobs.push_back(*key);
  }
  filter.accounts = list<std::string>(query.accounts());
  filter.partitions = list<std::string>(query.partitions());
  filter.names = list<std::string>(query.names());
  filter.qos = list<std::string>(query.qos());
  filter.wckeys = list<std::string>(query.wckeys());
  filter.nodes = list<std::string>(query.nodes());
  for (const auto& name : query.states()) {
    auto state = state_name(name);
    if (!state) return fail(state.error());
    filter.states.push_back(std::move(*state));
  }
  if (query.start() != 0) filter.start = Time(Duration(query.start()));
  if (query.end() != 0) filter.end = Time(Duration(query.end()));
  const auto bound = [](bool given, auto value) {
    return given ? std::optional<std::int64_t>(static_cast<std::int64_t>(value)) : std::nullopt;
  };
  filter.node_count = {bound(query.has_min_nodes(), query.min_nodes()),
                       bound(query.has_max_nodes(), query.max_nodes())};
  filter.cpus = {bound(query.has_min_cpus(), query.min_cpus()),
                 bound(query.has_max_cpus(), query.max_cpus())};
  filter.time_limit = {bound(query.has_min_time_limit(), query.min_time_limit()),
                       bound(query.has_max_time_limit(), query.max_time_limit())};
  filter.all_attempts = query.all_attempts();
  filter.limit = query.limit();
  filter.steps = query.steps();
  filter.fields = list<std::uint32_t>(query.fields());
  if (!filter.fields.empty()) {  // needed by merge() and read()
    filter.fields.push_back(Row::kSupersededFieldNumber);
    if (std::find(filter.fields.begin(), filter.fields.end(), Row::kGroupFieldNumber) !=
        filter.fields.end())
      filter.fields.push_back(Row::kGidFieldNumber);
    if (filter.steps)
      for (const std::uint32_t field : fields_of_steps()) filter.fields.push_back(field);
  }
  if (query.has_after()) {
    auto after = proto::from_api(query.after());
    if (!after) return fail(after.error());
    filter.after = *after;
  }
  return filter;
}

// The keys come from to_api() and need no checks.
JobKey key_of(const api::JobRef& ref) {
  return {JobId(ref.job()), ref.has_task() ? TaskIndex{ref.task()} : TaskIndex{}};
}

// Removes tasks that have their own row by now from an array's waiting tasks. False: none left.
bool without_started(Row& array, const api::AccountingRows& stored, int next) {
  const std::size_t percent = array.array_tasks().find('%');
  auto waiting = parse_interval_set(array.array_tasks().substr(0, percent));
  if (!waiting) return true;
  bool changed = false;
  for (; next < stored.rows_size() && stored.rows(next).key().job() == array.key().job(); ++next) {
    const Row& task = stored.rows(next);
    if (!task.key().has_task() || !waiting->contains(task.key().task())) continue;
    waiting->erase(task.key().task());
    changed = true;
  }
  if (!changed) return true;
  const std::string throttle =
      percent == std::string::npos ? "" : array.array_tasks().substr(percent);
  array.set_array_tasks(format_interval_set(*waiting) + throttle);
  return !waiting->empty();
}

// The filter of all jobs of a user that the system does not know.
store::AccountingFilter of_user(const std::string& name) {
  store::AccountingFilter filter;
  filter.users = {name};
  filter.fields = {Row::kKeyFieldNumber, Row::kSupersededFieldNumber};
  filter.limit = 1;
  return filter;
}

}  // namespace

api::AccountingRows merge(api::AccountingRows waiting, api::AccountingRows stored) {
  if (waiting.rows().empty() && !waiting.more()) return stored;
  // Last key that both inputs cover.
  std::optional<JobKey> end;
  for (const auto* side : {&waiting, &stored})
    if (side->more() && (!end || store::row_before(key_of(side->last()), *end)))
      end = key_of(side->last());
  const auto beyond = [&](const JobKey& key) { return end && store::row_before(*end, key); };

  api::AccountingRows out;
  int next = 0;
  const auto take_stored = [&] { *out.add_rows() = std::move(*stored.mutable_rows(next++)); };
  for (Row& row : *waiting.mutable_rows()) {
    const JobKey key = key_of(row.key());
    if (beyond(key)) break;
    while (next < stored.rows_size() && store::row_before(key_of(stored.rows(next).key()), key))
      take_stored();
    bool gone = false;
    for (; next < stored.rows_size() && key_of(stored.rows(next).key()) == key; take_stored())
      gone = gone || !stored.rows(next).superseded();
    if (gone) continue;
    if (!row.array_tasks().empty() && !without_started(row, stored, next)) continue;
    *out.add_rows() = std::move(row);
  }
  while (next < stored.rows_size() && !beyond(key_of(stored.rows(next).key()))) take_stored();
  out.set_more(end.has_value());
  if (end) proto::to_api(*end, out.mutable_last());
  return out;
}

Status AccountingReader::check_users(const std::vector<std::string>& names, Time now) {
  for (const std::string& name : names) {
    if (core::find_user(views_.read().state->accounting, name)) continue;
    const store::AccountingFilter filter = of_user(name);
    if (!waiting_rows(views_.read(), *config_.policy(), filter, filter.limit, now).rows().empty())
      continue;
    const auto stored = accounting_.query(filter);
    if (!stored) return fail(stored.error());
    if (stored->rows().empty())
      return fail(ErrorCode::not_found, "Invalid user name specified: " + printable(name));
  }
  return {};
}

Result<api::AccountingRows> AccountingReader::read(const api::Accounting& query, Time now) {
  auto filter = to_filter(query, identity_);
  if (!filter) return fail(filter.error());
  if (!filter->after)
    if (Status known = check_users(filter->users, now); !known) return fail(known.error());
  filter->limit = store::accounting_page(*filter);
  // In this order no job is missed: one that leaves the queue in between has its row by then.
  api::AccountingRows waiting =
      waiting_rows(views_.read(), *config_.policy(), *filter, filter->limit, now);
  auto stored = accounting_.query(*filter);
  if (!stored) return fail(stored.error());
  api::AccountingRows out = merge(std::move(waiting), std::move(*stored));
  if (query.steps()) complete_steps(live_steps_, out);
  add_groups(query, out);
  out.set_now(now.time_since_epoch().count());
  out.set_cluster(cluster_);
  return out;
}

void AccountingReader::add_groups(const api::Accounting& query, api::AccountingRows& rows) {
  const auto& fields = query.fields();
  if (fields.empty() ||
      std::find(fields.begin(), fields.end(), Row::kGroupFieldNumber) != fields.end())
    for (Row& row : *rows.mutable_rows()) row.set_group(identity_.name_of(GroupId(row.gid())));
}

store::PgOptions AccountingReader::primary_of(store::PgOptions options) {
  options.replica = {};
  return options;
}

Result<EndedRows> AccountingReader::read_ended(const api::Accounting& query, Lsn after, Lsn upto,
                                               Time now) {
  const auto log = ended_log_.query(after, upto);
  if (!log) return fail(log.error());
  EndedRows out;
  out.upto = log->upto;
  out.missed = log->missed;
  out.rows.set_now(now.time_since_epoch().count());
  out.rows.set_cluster(cluster_);
  auto filter = to_filter(query, identity_);
  if (!filter) return fail(filter.error());
  filter->start.reset();
  filter->end.reset();
  filter->after.reset();
  filter->limit = 0;
  filter->all_attempts = true;
  if (!filter->fields.empty()) filter->fields.push_back(Row::kEndedFieldNumber);
  using Name = std::tuple<JobKey, std::uint32_t, std::int64_t>;
  std::vector<Name> order;
  Time oldest = Time::max();
  for (const store::EndedAttempt& one : log->attempts) {
    if (one.requeued && !query.all_attempts()) continue;
    oldest = std::min(oldest, one.ended);
    filter->among.push_back(one.job);
    order.emplace_back(one.job, one.attempt, one.ended.time_since_epoch().count());
  }
  if (order.empty()) return out;
  // An array's name stands for its tasks as well, which may have ended long ago. With states a time would be that of the states.
  const std::set<Name> wanted(order.begin(), order.end());
  if (query.states().empty()) filter->start = oldest;
  std::map<Name, Row> found;
  for (bool more = true; more;) {
    auto page = primary_.query(*filter);
    if (!page) return fail(page.error());
    more = page->more();
    if (more) filter->after = key_of(page->last());
    for (Row& row : *page->mutable_rows()) {
      const Name name{key_of(row.key()), row.attempt(), row.ended()};
      if (wanted.contains(name)) found.insert_or_assign(name, std::move(row));
    }
  }
  for (const Name& name : order)
    if (const auto row = found.find(name); row != found.end())
      *out.rows.add_rows() = std::move(row->second);
  if (query.steps()) complete_steps(live_steps_, out.rows);
  add_groups(query, out.rows);
  return out;
}

}  // namespace ares::aresctld
