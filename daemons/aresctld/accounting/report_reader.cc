#include "aresctld/accounting/report_reader.h"

#include <algorithm>
#include <chrono>

#include "base/printable.h"

namespace ares::aresctld {
namespace {

template <class Value, class Field>
std::vector<Value> list(const Field& field) {
  return {field.begin(), field.end()};
}

// An unknown TRES is refused, because it is probably a mistake.
Status check_tres(const api::Report& query, const ClusterState& state) {
  for (const std::string& name : query.tres()) {
    if (state.tres.find(name)) continue;
    std::string known;
    state.tres.for_each(
        [&](const std::string& other, TresId) { known += (known.empty() ? "" : ", ") + other; });
    return fail(ErrorCode::invalid_argument,
                "unknown TRES " + quote(name) + "; this cluster has " + known);
  }
  return {};
}

}  // namespace

store::ReportFilter to_filter(const api::Report& query, Time now) {
  const auto whole = [&](std::int64_t at) {
    return Time(std::chrono::floor<Seconds>(std::min(Time(Duration(at)), now)));
  };
  store::ReportFilter filter;
  filter.kind = query.kind();
  filter.start = whole(query.start());
  filter.end = whole(query.end());
  filter.accounts = list<std::string>(query.accounts());
  filter.users = list<std::string>(query.users());
  filter.qos = list<std::string>(query.qos());
  filter.wckeys = list<std::string>(query.wckeys());
  filter.tres = list<std::string>(query.tres());
  filter.reservations = list<std::string>(query.reservations());
  filter.by_account = query.by_account();
  filter.by_user = query.by_user();
  filter.by_qos = query.by_qos();
  filter.by_wckey = query.by_wckey();
  filter.sizes = list<std::uint64_t>(query.sizes());
  std::sort(filter.sizes.begin(), filter.sizes.end());
  return filter;
}

Result<api::Reported> ReportReader::read(const api::Report& query, Time now) {
  if (Status known = check_tres(query, *views_.read().state); !known) return fail(known.error());
  store::ReportFilter filter = to_filter(query, now);
  api::Reported out;
  auto rows = reports_.query(filter);
  if (!rows) return fail(rows.error());
  out.mutable_rows()->Swap(&*rows);
  if (query.with_capacity()) {
    filter.kind = api::Report::UTILIZATION;
    auto capacity = reports_.query(filter);
    if (!capacity) return fail(capacity.error());
    out.mutable_capacity()->Swap(&*capacity);
  }
  out.set_start(filter.start.time_since_epoch().count());
  out.set_end(filter.end.time_since_epoch().count());
  out.set_now(now.time_since_epoch().count());
  const auto config = config_.read();
  out.mutable_prices()->insert(config->prices.begin(), config->prices.end());
  out.set_cluster(cluster_);
  return out;
}

}  // namespace ares::aresctld
