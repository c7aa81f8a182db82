// `update step`: the properties of steps that run.
#include <limits>

#include "actl/assign.h"
#include "actl/update_keys.h"
#include "base/duration.h"
#include "base/printable.h"
#include "cli/output/pages.h"
#include "cli/values/job_ids.h"
#include "cli/values/step_ids.h"
#include "step_client/reach.h"

namespace ares::actl {
namespace {

Status set_step_limit(StepChange& change, const std::string& value, Time) {
  const auto limit = parse_time_limit(value);
  if (!limit) return fail(limit.error());
  const Seconds seconds = limit->value_or(Seconds(0));
  if (seconds.count() > std::numeric_limits<std::uint32_t>::max())
    return invalid(excerpt(value) + " is too long for a step");
  change.time_limit = seconds;
  return {};
}

// The limit of the job ends its steps, so one above it would promise what does not come.
Status check_against_job(Context& context, const JobKey& job, Seconds limit) {
  api::Request look;
  cli::add_refs(look.mutable_list_jobs()->mutable_jobs(), std::span(&job, 1));
  const auto found = context.call_for_all(look);
  if (!found) return fail(found.error());
  for (const api::Job& row : found->jobs().jobs())
    if (row.has_time_limit() && cli::key_of(row.key()) == job && limit.count() > row.time_limit())
      return invalid("TimeLimit: " + format_duration(limit) + " is more than the " +
                     format_duration(Seconds(row.time_limit())) + " of job " +
                     cli::format_job_id(job) + ", which end its steps as well");
  return {};
}

}  // namespace

const Keys<StepChange>& step_keys() {
  static const Keys<StepChange> keys = {
      "a step",
      {{"TimeLimit", "LIMIT",
        "Its time limit, as of arun --time: counted from its begin, to the second, and not above "
        "that of the job. 0 or UNLIMITED: none but that of the job. A step that has run longer "
        "already is ended at once.",
        set_step_limit}},
      {},
      {{"name", "it is told when the step begins, with arun --job-name"},
       {"compfile", "no file is written when a step has ended; aacct shows it"}}};
  return keys;
}

Result<int> update_steps(Context& context, const std::string& ids,
                         const std::vector<Assignment>& all) {
  const auto wanted = cli::parse_step_ids(ids);
  if (!wanted) return fail(wanted.error());
  if (!wanted->whole.empty())
    return invalid("name steps as JOB.STEP: step=12.0; a whole job is changed with jobid=");
  StepChange change;
  if (all.empty()) return invalid("nothing to change; name at least one property of a step");
  for (const Assignment& one : all)
    if (Status done = apply_key(step_keys(), change, one.key, one.value, {}); !done)
      return fail(done.error());
  for (const cli::StepId& id : wanted->steps) {
    const std::string name = cli::format_job_id(id.job) + "." + cli::format_step(id.step);
    if (id.step < 0) return invalid(name + " has no limit of its own but that of the job");
    if (Status fine = check_against_job(context, id.job, change.time_limit); !fine)
      return fail(fine.error());
    const auto client = context.client();
    if (!client) return fail(client.error());
    const Result<os::Fd> host = step_client::reach(**client, id.job);
    if (!host) return fail(host.error());
    if (Status set = step_client::limit_step(host->get(), static_cast<std::uint32_t>(id.step),
                                             change.time_limit);
        !set)
      return fail(set.error());
  }
  return 0;
}

}  // namespace ares::actl
