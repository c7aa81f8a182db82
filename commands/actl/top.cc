// `top`: moves a job before the other pending jobs of its user.
#include "actl/top.h"

#include <algorithm>
#include <limits>
#include <map>

#include "actl/assign.h"
#include "base/printable.h"
#include "cli/values/job_ids.h"

namespace ares::actl {
namespace {

constexpr std::int64_t kHighestNice = 2'147'483'645;

bool is_held(const api::Job& job) {
  return job.reason().starts_with("JobHeld");
}

bool in_same_queue(const api::Job& a, const api::Job& b) {
  return a.user() == b.user() && a.account() == b.account() && a.qos() == b.qos() &&
         a.partition() == b.partition();
}

// Tasks of an array are moved together with it.
bool is_same(const JobKey& job, const JobKey& other) {
  return job.task.is_none() ? job.job == other.job : job == other;
}

// How far the other must step back to be served after the job.
std::int64_t gap(const api::Job& job, const api::Job& other, bool multifactor) {
  if (multifactor) {
    const std::int64_t ahead = std::int64_t{other.priority()} - job.priority();
    return ahead + (cli::key_of(job.key()) < cli::key_of(other.key()) ? 0 : 1);
  }
  const std::int64_t ahead = std::int64_t{job.spec().nice()} - other.spec().nice();
  return ahead + (cli::key_of(job.key()) < cli::key_of(other.key()) ? 0 : 1);
}

Result<int> move_to_top(Context& context, const api::JobRef& ref) {
  api::Request look;
  *look.mutable_list_jobs()->add_jobs() = ref;
  look.mutable_list_jobs()->set_details(true);
  const auto found = context.call(look);
  if (!found) return fail(found.error());
  const std::string id = cli::format_job_id(cli::key_of(ref));
  const auto& named = found->jobs().jobs();
  if (named.empty()) return fail(ErrorCode::not_found, "job " + id + " is unknown");
  // Of an array that has begun: what still waits.
  const auto waiting = std::find_if(named.begin(), named.end(),
                                    [](const api::Job& one) { return one.state() == "PENDING"; });
  const api::Job& job = waiting == named.end() ? named.Get(0) : *waiting;

  api::Request explain;
  *explain.mutable_explain_job()->mutable_job() = ref;
  const auto why = context.call(explain);
  if (!why) return fail(why.error());

  api::Request others;
  others.mutable_list_jobs()->add_users(job.user());
  others.mutable_list_jobs()->add_states("PENDING");
  others.mutable_list_jobs()->set_details(true);
  const auto pending = context.call_for_all(others);
  if (!pending) return fail(pending.error());

  const auto changes = nice_for_top(job, pending->jobs(), why->explanation().queue_policy());
  if (!changes) return fail(changes.error().code, "job " + id + ": " + changes.error().message);
  for (const NiceChange& change : *changes) {
    api::Request request;
    api::JobAction& action = *request.mutable_job_action();
    action.set_kind(api::JobAction::UPDATE);
    for (const api::JobRef& other : change.jobs) *action.mutable_jobs()->add_jobs() = other;
    action.add_fields("nice");
    action.mutable_values()->set_nice(change.nice);
    auto done = context.change(request);
    if (!done) return done;
  }
  return 0;
}

}  // namespace

Result<std::vector<NiceChange>> nice_for_top(const api::Job& job, const api::Jobs& pending,
                                             const std::string& queue_policy) {
  if (job.state() != "PENDING")
    return fail(ErrorCode::failed_precondition,
                "it is " + printable(job.state()) + "; only pending jobs can be moved");
  if (is_held(job))
    return fail(ErrorCode::failed_precondition, "it is held; release it first: actl release");
  if (queue_policy == "fifo")
    return fail(ErrorCode::failed_precondition,
                "its partition serves jobs in the order of their submission (fifo), whatever their "
                "nice values");
  std::int64_t most = 0;  // of them all, so that their order stays
  std::map<std::int64_t, std::vector<api::JobRef>> by_nice;
  const JobKey own = cli::key_of(job.key());
  for (const api::Job& other : pending.jobs()) {
    if (is_same(own, cli::key_of(other.key())) || is_held(other) || !in_same_queue(job, other))
      continue;
    most = std::max(most, gap(job, other, queue_policy == "multifactor"));
    by_nice[other.spec().nice()].push_back(other.key());
  }
  std::vector<NiceChange> changes;
  if (most == 0) return changes;
  // The last ones first, so that their order stays if one of the requests fails.
  for (auto same = by_nice.rbegin(); same != by_nice.rend(); ++same)
    changes.push_back({static_cast<std::int32_t>(std::min(same->first + most, kHighestNice)),
                       std::move(same->second)});
  return changes;
}

Result<int> top(Context& context, const Words& operands) {
  if (operands.empty()) return invalid("name the jobs by their ids, the first one to start first");
  api::JobSelector named;
  for (const std::string& word : operands)
    if (Status added = add_jobs(word, named); !added) return fail(added.error());
  if (!named.name().empty()) return invalid("name the jobs by their ids");
  for (int i = named.jobs_size(); i-- > 0;) {
    auto done = move_to_top(context, named.jobs(i));
    if (!done) return done;
  }
  return 0;
}

}  // namespace ares::actl
