// arun: runs a program as the tasks of a step. Called as ares-rsh: runs a command on one node of the job.
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "arun/options.h"
#include "arun/session.h"
#include "cli/options/frame.h"
#include "cli/values/job_ids.h"
#include "step_client/reach.h"

namespace ares::arun {
namespace {

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable) variables.emplace_back(*variable);
  return variables;
}

// Where the steps of a job are created, and the environment that tells of the job.
struct Place {
  os::Fd host;
  std::vector<std::string> environment;
};

Result<JobKey> only_job(const std::string& text) {
  const Result<std::vector<JobKey>> keys = cli::parse_job_ids(text);
  if (!keys) return fail(keys.error());
  if (keys->size() != 1)
    return fail(ErrorCode::invalid_argument, "--jobid=" + text + " is not the id of one job");
  return keys->front();
}

// The job that this process is part of, by its socket; another one, or that of the environment of aalloc,
// from outside.
Result<Place> find_job(const Wanted& wanted) {
  const char* const directory = std::getenv("ARES_ATTEMPT_DIR");
  const char* const own = std::getenv("ARES_JOB_ID");
  if (directory && (wanted.job.empty() || (own && wanted.job == own))) {
    Result<os::Fd> host = step_client::connect_within(directory);
    if (!host) return fail(host.error());
    return Place{std::move(*host), own_environment()};
  }
  const std::string job = !wanted.job.empty() ? wanted.job : own ? own : "";
  if (job.empty())
    return fail(ErrorCode::failed_precondition,
                "this is not within a job (ARES_JOB_ID is not set); submit a script that calls "
                "arun with asub");
  const Result<JobKey> key = only_job(job);
  if (!key) return fail(key.error());
  Result<rpc::Client> client =
      cli::open_client("arun", wanted.common, cli::RetryPolicy::query, wanted.quiet);
  if (!client) return fail(client.error());
  Result<os::Fd> host = step_client::reach(*client, *key);
  if (!host) return fail(host.error());
  const Result<std::vector<std::string>> variables = step_client::describe(host->get());
  if (!variables) return fail(variables.error());
  return Place{std::move(*host), step_client::merged(own_environment(), *variables)};
}

void fill_in_process(Wanted& wanted) {
  char here[PATH_MAX];
  wanted.request.task.directory = !wanted.directory.empty()     ? wanted.directory
                                  : ::getcwd(here, sizeof here) ? here
                                                                : "/";
  const mode_t mask = ::umask(0);
  ::umask(mask);
  wanted.request.task.umask = mask;
}

// `ares-rsh [OPTIONS] HOST COMMAND...`, called like rsh(1) and ssh(1).
Result<int> run_remote_shell(const cli::Words& words) {
  Wanted wanted;
  fill_in_process(wanted);
  Result<Place> place = find_job(wanted);
  if (!place) return fail(place.error());
  Result<Streams> streams = complete_remote_shell(wanted, place->environment, words);
  if (!streams) return fail(streams.error());
  return Session(wanted, std::move(*streams), std::move(place->host)).run();
}

Result<int> run(const cli::Words& words) {
  Wanted wanted;
  wanted.request.task.cpus_per_task = 0;  // not said
  const cli::OptionTable table = options(wanted);
  return cli::run_line(manual(), table, wanted.common, words,
                       [&](const cli::Words& operands) -> Result<int> {
                         fill_in_process(wanted);
                         Result<Place> place = find_job(wanted);
                         if (!place) return fail(place.error());
                         Result<Streams> streams = complete(wanted, place->environment, operands);
                         if (!streams) return fail(streams.error());
                         return Session(wanted, std::move(*streams), std::move(place->host)).run();
                       });
}

}  // namespace
}  // namespace ares::arun

int main(int argc, char** argv) {
  const std::string_view called = argc > 0 ? argv[0] : "";
  if (called.substr(called.rfind('/') + 1) == "ares-rsh")
    return ares::cli::run_main("ares-rsh", argc, argv, ares::arun::run_remote_shell);
  return ares::cli::run_main("arun", argc, argv, ares::arun::run);
}
