#include "cli/jobs/wait.h"

#include <algorithm>
#include <optional>
#include <span>

#include "cli/jobs/progress.h"
#include "cli/values/job_ids.h"
#include "model/job/job.h"

namespace ares::cli {
namespace {

constexpr std::uint32_t kPollSeconds = 30;

bool ended(const api::Job& job) {
  const auto state = parse_job_state(job.state());
  return state && is_terminal(*state);
}

// Of an api::Job or an api::AccountingRow.
template <class Ended>
int code_of(const Ended& job) {
  const int code = job.exit_signal() > 0 ? 128 + job.exit_signal() : job.exit_code();
  return code == 0 && job.state() != "COMPLETED" ? 1 : code;
}

// A job that ended so long ago that the controller does not know it.
Result<int> from_accounting(rpc::Client& client, const JobKey& job, const Error& unknown) {
  api::Request request;
  add_refs(request.mutable_accounting()->mutable_jobs(), std::span(&job, 1));
  int highest = 0;
  for (bool any = false;;) {
    auto response = client.call(request);
    if (!response) return fail(response.error());
    const api::AccountingRows& rows = response->accounting();
    const std::optional<int> code = exit_code_of(rows);
    any = any || !rows.rows().empty();
    if (!code) return fail(unknown);
    highest = std::max(highest, *code);
    if (!rows.more()) return any ? Result<int>(highest) : fail(unknown);
    *request.mutable_accounting()->mutable_after() = rows.last();
    request.clear_request_id();
  }
}

}  // namespace

int exit_code_of(const api::Jobs& jobs) {
  int highest = 0;
  for (const api::Job& job : jobs.jobs()) {
    // The record of an array summarises its tasks; those that never ran have no other.
    const bool array = job.has_spec() && !job.spec().array().empty() && !job.key().has_task();
    if (!array)
      highest = std::max(highest, code_of(job));
    else if (job.state() != "COMPLETED")
      highest = std::max(highest, 1);
  }
  return highest;
}

std::optional<int> exit_code_of(const api::AccountingRows& rows) {
  int highest = 0;
  for (const api::AccountingRow& row : rows.rows()) {
    if (row.superseded()) continue;
    const auto state = parse_job_state(row.state());
    if (!state || !is_terminal(*state)) return std::nullopt;
    highest = std::max(highest, code_of(row));
  }
  return highest;
}

Result<int> wait_for_end(rpc::Client& client, const JobKey& job, bool progress, ColourWhen colour) {
  std::optional<ProgressLine> line;
  if (progress) line.emplace(client, job, colour);
  for (;;) {
    api::Request request;
    api::JobRef& waited = *request.mutable_wait_job()->mutable_job();
    waited.set_job(job.job.value());
    if (!job.task.is_none()) waited.set_task(job.task.value);
    request.mutable_wait_job()->set_seconds(kPollSeconds);
    auto response = client.call(request);
    if (!response && response.error().code == ErrorCode::not_found)
      return from_accounting(client, job, response.error());
    if (!response) return fail(response.error());
    // An array may have more tasks than one page; a running task may be on a later page.
    api::Request page;
    *page.mutable_list_jobs()->add_jobs() = request.wait_job().job();
    page.mutable_list_jobs()->set_details(true);
    int highest = 0;
    for (;;) {
      const api::Jobs& jobs = response->jobs();
      if (jobs.jobs().empty() || !std::all_of(jobs.jobs().begin(), jobs.jobs().end(), ended)) break;
      highest = std::max(highest, exit_code_of(jobs));
      if (!jobs.has_next()) return highest;
      *page.mutable_list_jobs()->mutable_after() = jobs.next();
      page.clear_request_id();
      response = client.call(page);
      if (!response) return fail(response.error());
    }
  }
}

}  // namespace ares::cli
