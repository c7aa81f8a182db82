// `notify`: writes a line to the standard error of a job's batch script.
#include "actl/assign.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"

namespace ares::actl {

Result<int> notify(Context& context, const Words& operands) {
  if (operands.size() < 2)
    return invalid("name one job and say what to tell it: actl notify 12 TEXT");
  const std::string& word = operands[0];
  const std::size_t equals = word.find('=');
  const std::string key = equals == std::string::npos ? "" : cli::lower(word.substr(0, equals));
  if (!key.empty() && key != "jobid" && key != "job") return invalid("name the job by its id");
  const auto keys =
      cli::parse_job_ids(equals == std::string::npos ? word : word.substr(equals + 1));
  if (!keys) return fail(keys.error());
  if (keys->size() != 1) return invalid("name one job or one task of an array");
  api::Request request;
  api::JobRef& job = *request.mutable_notify_job()->mutable_job();
  job.set_job(keys->front().job.value());
  if (!keys->front().task.is_none()) job.set_task(keys->front().task.value);
  request.mutable_notify_job()->set_text(
      cli::join(Words(operands.begin() + 1, operands.end()), " "));
  // Once only: an answer that is lost does not say whether the line was written.
  return context.change(request, cli::RetryPolicy::once);
}

}  // namespace ares::actl
