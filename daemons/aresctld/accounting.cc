#include "aresctld/accounting.h"

#include "proto/convert.h"

namespace ares::aresctld {
namespace {

std::int64_t micros(Time t) {
  return t.time_since_epoch().count();
}
std::int64_t micros(const std::optional<Time>& t) {
  return t ? micros(*t) : 0;
}

template <class Field>
std::vector<std::string> words(const Field& field) {
  return {field.begin(), field.end()};
}

Result<store::AccountingFilter> to_filter(const api::Accounting& query) {
  store::AccountingFilter filter;
  for (const auto& ref : query.jobs()) {
    auto key = proto::from_api(ref);
    if (!key) return fail(key.error());
    filter.jobs.push_back(*key);
  }
  filter.users = words(query.users());
  filter.accounts = words(query.accounts());
  filter.partitions = words(query.partitions());
  filter.names = words(query.names());
  for (const auto& name : query.states()) {
    const auto state = parse_job_state(name);
    if (!state) return fail(ErrorCode::invalid_argument, "unknown job state \"" + name + "\"");
    filter.states.push_back(*state);
  }
  if (query.start() != 0) filter.start = Time(Duration(query.start()));
  if (query.end() != 0) filter.end = Time(Duration(query.end()));
  filter.all_attempts = query.all_attempts();
  filter.limit = query.limit();
  if (query.has_after()) {
    auto after = proto::from_api(query.after());
    if (!after) return fail(after.error());
    filter.after = *after;
  }
  return filter;
}

void fill(const store::AccountingRow& from, api::AccountingRow& to) {
  proto::to_api(from.key, to.mutable_key());
  to.set_own_id(from.own_id.value());
  to.set_attempt(from.attempt.value());
  to.set_name(from.name);
  to.set_user(from.user);
  to.set_uid(from.uid.value());
  to.set_account(from.account);
  to.set_qos(from.qos);
  to.set_partition(from.partition);
  to.set_state(from.state);
  to.set_reason(from.reason);
  if (from.cancelled_by) to.set_cancelled_by(from.cancelled_by->value());
  to.set_submitted(micros(from.submitted));
  to.set_eligible(micros(from.eligible));
  to.set_allocated_at(micros(from.allocated));
  to.set_started(micros(from.started));
  to.set_ended(micros(from.ended));
  to.set_exit_code(from.exit_code);
  to.set_exit_signal(from.exit_signal);
  to.set_node_count(from.node_count);
  to.set_cpus(static_cast<std::uint32_t>(from.cpus));
  to.set_node_list(from.node_list);
  to.set_requested_tres(from.requested_tres);
  to.set_allocated_tres(from.allocated_tres);
  to.set_user_cpu(from.user_cpu.count());
  to.set_system_cpu(from.system_cpu.count());
  to.set_max_rss(from.max_rss.value());
  if (from.time_limit) to.set_time_limit(from.time_limit->count());
  to.set_restarts(from.restarts);
  to.set_work_dir(from.work_dir);
  to.set_submit_host(from.submit_host);
}

}  // namespace

Result<api::AccountingRows> AccountingReader::read(const api::Accounting& query, Time now) {
  auto filter = to_filter(query);
  if (!filter) return fail(filter.error());
  auto page = accounting_.query(*filter);
  if (!page) return fail(page.error());
  api::AccountingRows out;
  out.set_now(micros(now));
  out.set_more(page->more);
  for (const auto& row : page->rows) fill(row, *out.add_rows());
  return out;
}

}  // namespace ares::aresctld
