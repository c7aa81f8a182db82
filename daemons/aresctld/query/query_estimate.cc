// When a job would start: asub --test-only.
#include "aresctld/query/queries.h"
#include "aresctld/query/query_why.h"
#include "base/hostlist.h"
#include "core/sched/why/estimate.h"

namespace ares::aresctld {

Result<api::Estimate> estimate(const View& view, const Policy& policy, const Principal& caller,
                               const Submit& submit, Time now) {
  const auto found = core::estimate_start(*view.state, policy, caller, submit, now);
  if (!found) return fail(found.error());
  api::Estimate out;
  if (found->start) out.set_start(found->start->time_since_epoch().count());
  out.set_at_the_earliest(found->at_the_earliest);
  out.set_node_list(compress_hostlist(found->nodes));
  out.set_partition(found->partition);
  out.set_cpus(found->cpus);
  if (found->waiting.reason != Reason::none)
    out.set_reason(std::string(reason_text(found->waiting)));
  out.set_reason_detail(found->waiting.detail);
  if (found->why) to_api(*found->why, *view.state, *out.mutable_why());
  return out;
}

}  // namespace ares::aresctld
