#include "arun/place.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/options/frame.h"
#include "cli/values/job_ids.h"
#include "step_client/reach.h"

namespace ares::arun {

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable) variables.emplace_back(*variable);
  return variables;
}

bool is_within_job() {
  return std::getenv("ARES_JOB_ID") || std::getenv("ARES_ATTEMPT_DIR");
}

Result<JobKey> only_job(const std::string& text) {
  const Result<std::vector<JobKey>> keys = cli::parse_job_ids(text);
  if (!keys) return fail(keys.error());
  if (keys->size() != 1)
    return fail(ErrorCode::invalid_argument, text + " is not the id of one job");
  return keys->front();
}

Result<Place> find_job(const std::string& program, const cli::CommonOptions& common,
                       const std::string& job, bool quiet) {
  const char* const directory = std::getenv("ARES_ATTEMPT_DIR");
  const char* const own = std::getenv("ARES_JOB_ID");
  if (directory && (job.empty() || (own && job == own))) {
    Result<os::Fd> host = step_client::connect_within(directory);
    if (!host) return fail(host.error());
    return Place{std::move(*host), own_environment()};
  }
  if (job.empty() && !own)
    return fail(ErrorCode::failed_precondition,
                "this is not within a job (ARES_JOB_ID is not set); name one with --jobid");
  const Result<JobKey> key = only_job(job.empty() ? std::string(own) : job);
  if (!key) return fail(key.error());
  Result<rpc::Client> client = cli::open_client(program, common, cli::RetryPolicy::query, quiet);
  if (!client) return fail(client.error());
  Result<os::Fd> host = step_client::reach(*client, *key);
  if (!host) return fail(host.error());
  const Result<std::vector<std::string>> variables = step_client::describe(host->get());
  if (!variables) return fail(variables.error());
  return Place{std::move(*host), step_client::merged(own_environment(), *variables)};
}

}  // namespace ares::arun
