#include "aqueue/past.h"

#include <algorithm>

#include "aqueue/cells.h"
#include "base/hostlist.h"
#include "cli/jobs/past_jobs.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"

namespace ares::aqueue {
namespace {

using Names = google::protobuf::RepeatedPtrField<std::string>;

bool names(const Names& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool names_or_none(const Names& list, const std::string& name) {
  return list.empty() || names(list, name);
}

bool names_any(const Names& list, const std::vector<std::string>& all) {
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& name) { return names(list, name); });
}

bool names_user(const Names& users, const api::Job& job) {
  return names(users, job.user()) || names(users, std::to_string(job.uid()));
}

// How jobs ended that the filter leaves out.
std::string note_of_hidden(const std::vector<api::Job>& hidden) {
  if (hidden.size() > 1)
    return "aqueue: " + std::to_string(hidden.size()) +
           " of the jobs named have ended; -t all lists them\n";
  const api::Job& job = hidden.front();
  std::string text = "aqueue: job ";
  put_id(job, text);
  text += " ended at ";
  put_time(job.ended(), text);
  return text + " as " + job.state() + ", exit code " + std::to_string(job.exit_code()) + ":" +
         std::to_string(job.exit_signal()) + "; -t all lists it\n";
}

}  // namespace

bool passes(const api::Job& job, const api::ListJobs& filter) {
  // These are about what a job holds or does now.
  if (filter.has_running_over() || filter.has_running_under() || filter.licenses_size() > 0 ||
      filter.reservations_size() > 0)
    return false;
  if (!filter.users().empty() && !names_user(filter.users(), job)) return false;
  if (names_user(filter.not_users(), job)) return false;
  if (!filter.partitions().empty() &&
      !names_any(filter.partitions(), cli::split(job.partition(), ',')))
    return false;
  if (!filter.nodes().empty()) {
    const auto nodes = expand_hostlist(job.node_list());
    if (!nodes || !names_any(filter.nodes(), *nodes)) return false;
  }
  return names_or_none(filter.states(), job.state()) && names_or_none(filter.names(), job.name()) &&
         names_or_none(filter.accounts(), job.account()) &&
         names_or_none(filter.qos(), job.qos()) &&
         names_or_none(filter.wckeys(), job.spec().wckey());
}

Status add_past_jobs(const std::function<Result<api::Response>(const api::Request&)>& call,
                     const api::ListJobs& filter, const api::Jobs& page, bool explain_hidden,
                     Report& report, std::string& notes) {
  if (page.missing().empty()) return {};
  Result<cli::PastJobs> past = cli::read_past_jobs_of(call, page.missing());
  if (!past) {
    // The jobs that the controller has are listed all the same.
    notes += "aqueue: accounting cannot say what became of jobs: " + past.error().message + "\n";
    past = cli::PastJobs{};
    for (const api::JobRef& ref : page.missing()) past->unknown.push_back(cli::key_of(ref));
  }
  const bool none = past->unknown.size() == static_cast<std::size_t>(filter.jobs_size());
  if (none && past->unknown.size() == 1) return tl::unexpected(cli::unknown_job(past->unknown[0]));
  for (const JobKey& key : past->unknown)
    notes += "aqueue: " + cli::unknown_job(key).message + "\n";
  if (none)
    return fail(ErrorCode::not_found, "none of these jobs is known; aacct shows those that ended");
  std::vector<api::Job> hidden;
  for (const api::AccountingRow& row : past->rows) {
    api::Job job = cli::job_of(row);
    if (passes(job, filter))
      report.add({job, Time(Duration(page.now())), page.cluster()});
    else if (explain_hidden && is_terminal(state_of(job)))
      hidden.push_back(std::move(job));
  }
  if (!hidden.empty()) notes += note_of_hidden(hidden);
  return {};
}

}  // namespace ares::aqueue
