#include "cli/output/running_steps.h"

#include <algorithm>
#include <set>

#include "cli/values/job_ids.h"
#include "model/job/step_record.h"

namespace ares::cli {
namespace {

bool names(const JobKey& wanted, const JobKey& job) {
  return wanted.job == job.job && (wanted.task.is_none() || wanted == job);
}

bool is_wanted(const JobOrStepIds& wanted, const JobKey& job, std::int64_t step) {
  if (wanted.whole.empty() && wanted.steps.empty()) return true;
  return std::any_of(wanted.whole.begin(), wanted.whole.end(),
                     [&](const JobKey& key) { return names(key, job); }) ||
         std::any_of(wanted.steps.begin(), wanted.steps.end(),
                     [&](const StepId& id) { return id.step == step && names(id.job, job); });
}

RunningStep step_of(const api::RunningUse::Line& line, std::int64_t number) {
  RunningStep step;
  step.id = format_job_id(key_of(line.job())) + "." + format_step(number);
  step.user = line.user();
  step.partition = line.partition();
  return step;
}

// The lines of a job follow each other, one for each of its nodes.
RunningStep batch_step(const api::RunningUse::Line& first) {
  RunningStep step = step_of(first, kBatchStep);
  step.name = "batch";
  step.node_list = first.node();
  step.nodes = 1;
  step.cpus = first.cpus();
  step.tasks = 1;
  step.started = first.started_at();
  return step;
}

}  // namespace

Result<api::RunningUse> read_use(const Call& call, api::ListUse filter) {
  api::RunningUse all;
  for (;;) {
    api::Request request;
    *request.mutable_list_use() = filter;
    auto response = call(std::move(request));
    if (!response) return fail(response.error());
    api::RunningUse& page = *response->mutable_running_use();
    const bool more = page.has_next();
    if (more) filter.mutable_after()->Swap(page.mutable_next());
    page.clear_next();
    all.MergeFrom(page);
    if (!more) return all;
  }
}

std::vector<RunningStep> running_steps(const api::RunningUse& use, const JobOrStepIds& wanted) {
  std::vector<RunningStep> steps;
  std::set<JobKey> seen;
  for (const api::RunningUse::Line& line : use.lines()) {
    const JobKey job = key_of(line.job());
    if (seen.insert(job).second && is_wanted(wanted, job, kBatchStep))
      steps.push_back(batch_step(line));
    for (const api::AccountingStep& one : line.steps()) {
      if (one.ended() != 0 || !is_wanted(wanted, job, one.number())) continue;
      RunningStep step = step_of(line, one.number());
      step.name = one.name();
      step.node_list = one.node_list();
      step.nodes = one.node_count();
      step.cpus = one.cpus();
      step.tasks = one.tasks();
      step.started = one.started();
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

}  // namespace ares::cli
