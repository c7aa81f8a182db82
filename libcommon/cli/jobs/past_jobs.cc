#include "cli/jobs/past_jobs.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/interval_set.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"

namespace ares::cli {
namespace {

// The ids that rows answer to.
class AnsweredIds {
 public:
  void add(const api::AccountingRow& row) {
    const JobId job(row.key().job());
    keys_.insert({job, {}});
    if (row.key().has_task()) {
      keys_.insert({job, TaskIndex{row.key().task()}});
      keys_.insert({JobId(row.own_id()), {}});
    } else if (!row.array_tasks().empty()) {
      // Without the throttle of "3-9%2".
      const auto tasks =
          parse_interval_set(row.array_tasks().substr(0, row.array_tasks().find('%')));
      if (tasks) never_ran_[job] = *tasks;
    }
  }

  bool has(const JobKey& key) const {
    if (keys_.contains(key)) return true;
    const auto rest = never_ran_.find(key.job);
    return !key.task.is_none() && rest != never_ran_.end() && rest->second.contains(key.task.value);
  }

 private:
  std::set<JobKey> keys_;
  std::map<JobId, IntervalSet> never_ran_;
};

}  // namespace

Result<PastJobs> read_past_jobs(
    const std::function<Result<api::Response>(const api::Request&)>& call,
    std::span<const JobKey> jobs) {
  PastJobs past;
  if (jobs.empty()) return past;
  api::Request request;
  add_refs(request.mutable_accounting()->mutable_jobs(), jobs);
  AnsweredIds answered;
  for (bool more = true; more;) {
    Result<api::Response> response = call(request);
    if (!response) return fail(response.error());
    api::AccountingRows& page = *response->mutable_accounting();
    for (api::AccountingRow& row : *page.mutable_rows()) {
      if (row.superseded()) continue;
      answered.add(row);
      past.rows.push_back(std::move(row));
    }
    more = page.more();
    *request.mutable_accounting()->mutable_after() = page.last();
    request.clear_request_id();
  }
  std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(past.unknown),
               [&](const JobKey& key) { return !answered.has(key); });
  return past;
}

api::Job job_of(const api::AccountingRow& row) {
  api::Job job;
  *job.mutable_key() = row.key();
  job.set_own_id(row.own_id());
  job.set_name(row.name());
  job.set_user(row.user());
  job.set_uid(row.uid());
  job.set_group(row.group());
  job.set_account(row.account());
  job.set_qos(row.qos());
  job.set_partition(row.partition());
  job.set_state(row.state());
  job.set_reason(row.reason());
  job.set_cause(row.cause());
  job.set_priority(row.priority());
  if (row.has_time_limit()) job.set_time_limit(row.time_limit());
  job.set_submitted(row.submitted());
  job.set_eligible(row.eligible());
  job.set_started(row.started());
  job.set_ended(row.ended());
  job.set_suspended(row.suspended());
  job.set_suspended_at(row.suspended_at());
  job.set_attempt(row.attempt());
  job.set_restarts(row.restarts());
  job.set_node_count(row.node_count());
  job.set_cpus(row.cpus());
  job.set_node_list(row.node_list());
  job.set_exit_code(row.exit_code());
  job.set_exit_signal(row.exit_signal());
  if (row.has_cancelled_by()) job.set_cancelled_by(row.cancelled_by());
  job.set_array_tasks(row.array_tasks());
  job.set_tres(row.allocated_tres());
  job.set_requested_tres(row.requested_tres());
  api::JobSpec& spec = *job.mutable_spec();
  spec.set_gid(row.gid());
  spec.set_tasks(row.tasks());
  spec.set_exclusive(row.exclusive());
  spec.set_wckey(row.wckey());
  spec.set_comment(row.comment());
  spec.set_work_dir(row.work_dir());
  spec.set_std_in(row.std_in());
  spec.set_std_out(row.std_out());
  spec.set_std_err(row.std_err());
  spec.set_submit_host(row.submit_host());
  spec.set_array(row.array_spec());
  spec.set_segment(row.segment());
  spec.set_exclusive_user(row.exclusive_user());
  spec.set_extra(row.extra());
  if (!row.container_image().empty()) spec.mutable_container()->set_image(row.container_image());
  for (std::string& name : split(row.reservations(), ',')) spec.add_reservations(std::move(name));
  return job;
}

Error unknown_job(const JobKey& key) {
  return {ErrorCode::not_found, "Invalid job id specified: " + format_job_id(key)};
}

}  // namespace ares::cli
