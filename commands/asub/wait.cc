#include "asub/wait.h"

#include <algorithm>

#include "model/job/job.h"

namespace ares::asub {
namespace {

constexpr std::uint32_t kPollSeconds = 30;

bool ended(const api::Job& job) {
  const auto state = parse_job_state(job.state());
  return state && is_terminal(*state);
}

}  // namespace

int exit_code_of(const api::Jobs& jobs) {
  int highest = 0;
  for (const api::Job& job : jobs.jobs()) {
    // The record of an array only summarises its tasks.
    const bool array = job.has_spec() && !job.spec().array().empty() && !job.key().has_task();
    int code = job.exit_signal() > 0 ? 128 + job.exit_signal() : job.exit_code();
    if (code == 0 && !array && job.state() != "COMPLETED") code = 1;
    highest = std::max(highest, code);
  }
  return highest;
}

Result<int> wait_for_end(rpc::Client& client, const JobKey& job) {
  for (;;) {
    api::Request request;
    request.mutable_wait_job()->mutable_job()->set_job(job.job.value());
    request.mutable_wait_job()->set_seconds(kPollSeconds);
    auto response = client.call(request);
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

}  // namespace ares::asub
