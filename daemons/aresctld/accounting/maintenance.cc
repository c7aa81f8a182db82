#include "aresctld/accounting/maintenance.h"

#include <vector>

#include "base/hostlist.h"
#include "proto/convert.h"
#include "store/accounting/runaways.h"

namespace ares::aresctld {
namespace {

constexpr int kMostEnded = 10'000;

std::vector<std::string> list(const google::protobuf::RepeatedPtrField<std::string>& field) {
  return {field.begin(), field.end()};
}

}  // namespace

Result<api::RunawayJobs> AccountingMaintenance::runaways(const Principal& caller,
                                                         const api::Runaways& request, Time now) {
  store::Runaways runaways(database_);
  if (request.end().empty()) return runaways.list();
  if (request.end_size() > kMostEnded)
    return fail(ErrorCode::invalid_argument,
                "at most " + std::to_string(kMostEnded) + " attempts at a time");
  std::vector<AttemptKey> attempts;
  for (const auto& one : request.end()) {
    const auto job = proto::from_api(one.job());
    if (!job) return fail(job.error());
    attempts.push_back({*job, AttemptNo(one.attempt())});
  }
  const auto ended = runaways.end(attempts, caller, epoch_(), now);
  if (!ended) return fail(ended.error());
  // Recompute their sums now, as far as possible in a short time; the worker does the rest.
  api::Rollup rollup_request;
  rollup_request.set_what(api::Rollup::NEXT);
  if (const auto summed = rollup_worker_.on_demand(rollup_request); !summed)
    return fail(summed.error());
  auto remaining = runaways.list();
  if (!remaining) return fail(remaining.error());
  remaining->set_ended(*ended);
  return remaining;
}

Result<api::Transactions> AccountingMaintenance::transactions(
    const api::ListTransactions& request) {
  store::AuditFilter filter;
  if (request.start() != 0) filter.start = Time(Duration(request.start()));
  if (request.end() != 0) filter.end = Time(Duration(request.end()));
  filter.users = list(request.users());
  filter.actions = list(request.actions());
  filter.all_actions = request.all_actions();
  filter.after = request.after();
  return audit_.query(filter);
}

Result<api::NodeEvents> AccountingMaintenance::node_events(const api::ListNodeEvents& request) {
  store::NodeLogFilter filter;
  if (!request.nodes().empty()) {
    auto names = expand_hostlist(request.nodes());
    if (!names) return fail(names.error());
    filter.nodes = std::move(*names);
  }
  if (request.start() != 0) filter.start = Time(Duration(request.start()));
  if (request.end() != 0) filter.end = Time(Duration(request.end()));
  filter.before = request.before();
  filter.limit = request.limit();
  return node_log_.query(filter);
}

Result<api::Archived> AccountingMaintenance::archive(const api::Archive& request) {
  return archiver_.on_demand(request);
}

}  // namespace ares::aresctld
