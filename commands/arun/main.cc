// arun: runs a program as the tasks of a step. Called as ares-rsh: runs a command on one node of the job.
// Called as ares-allocation: waits as the batch script of an interactive allocation.
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arun/holder.h"
#include "arun/options.h"
#include "arun/place.h"
#include "arun/session.h"
#include "cli/options/frame.h"
#include "step_client/allocation.h"
#include "step_client/reach.h"
#include "submission/allocation_request.h"

namespace ares::arun {
namespace {

void fill_in_process(Wanted& wanted) {
  char here[PATH_MAX];
  wanted.request.task.directory = !wanted.directory.empty()     ? wanted.directory
                                  : ::getcwd(here, sizeof here) ? here
                                                                : "/";
  const mode_t mask = ::umask(0);
  ::umask(mask);
  wanted.request.task.umask = mask;
}

// A job of its own for the step.
struct OwnJob {
  Place place;
  step_client::Allocation allocation;
};
Result<OwnJob> allocate(Wanted& wanted, const std::string& program) {
  const char* const path = std::getenv("PATH");
  Result<api::Request> request =
      submission::allocation_request(wanted.allocation, program, step_client::holding_script(true),
                                     step_client::holding_environment(path ? path : ""));
  if (!request) return fail(request.error());
  Result<rpc::Client> client =
      cli::open_client("arun", wanted.common, cli::RetryPolicy::change, wanted.quiet);
  if (!client) return fail(client.error());
  step_client::AllocationWishes wishes{.program = "arun", .quiet = wanted.quiet};
  if (wanted.request.immediate) wishes.immediate = Seconds(1);
  Result<step_client::Allocation> allocation =
      step_client::Allocation::obtain(std::move(*client), std::move(*request), std::move(wishes));
  if (!allocation) return fail(allocation.error());
  Result<os::Fd> host = step_client::reach(allocation->client(), allocation->job());
  if (!host) {
    allocation->release(1);
    return fail(host.error());
  }
  return OwnJob{{std::move(*host), step_client::merged(own_environment(), allocation->variables())},
                std::move(*allocation)};
}

Status refuse_options_of_allocations(const Wanted& wanted) {
  if (wanted.of_allocation.empty()) return {};
  return fail(ErrorCode::invalid_argument,
              "--" + wanted.of_allocation.front() +
                  " asks for an allocation, and within a job there is one; not supported for a "
                  "step yet");
}

Result<int> run_in(Place place, Wanted& wanted, const cli::Words& operands) {
  Result<Streams> streams = complete(wanted, place.environment, operands);
  if (!streams) return fail(streams.error());
  return Session(wanted, std::move(*streams), std::move(place.host)).run();
}

Result<int> run_step(Wanted& wanted, const cli::Words& operands) {
  if (operands.empty())
    return fail(ErrorCode::invalid_argument, "name the program to run: arun [OPTIONS] PROGRAM");
  fill_in_process(wanted);
  if (wanted.job.empty() && !is_within_job()) {
    Result<OwnJob> own = allocate(wanted, operands.front());
    if (!own) return fail(own.error());
    const Result<int> code = run_in(std::move(own->place), wanted, operands);
    own->allocation.release(code.value_or(1));
    return code;
  }
  if (Status good = refuse_options_of_allocations(wanted); !good) return fail(good.error());
  Result<Place> place = find_job("arun", wanted.common, wanted.job, wanted.quiet);
  if (!place) return fail(place.error());
  return run_in(std::move(*place), wanted, operands);
}

// `ares-rsh [OPTIONS] HOST COMMAND...`, called like rsh(1) and ssh(1).
Result<int> run_remote_shell(const cli::Words& words) {
  Wanted wanted;
  fill_in_process(wanted);
  Result<Place> place = find_job("ares-rsh", wanted.common, {}, true);
  if (!place) return fail(place.error());
  Result<Streams> streams = complete_remote_shell(wanted, place->environment, words);
  if (!streams) return fail(streams.error());
  return Session(wanted, std::move(*streams), std::move(place->host)).run();
}

Result<int> run(const cli::Words& words) {
  Wanted wanted;
  wanted.request.task.cpus_per_task = 0;  // not said
  const cli::OptionTable table = options(wanted, cli::clock_now());
  return cli::run_line(manual(), table, wanted.common, words,
                       [&](const cli::Words& operands) { return run_step(wanted, operands); });
}

}  // namespace
}  // namespace ares::arun

int main(int argc, char** argv) {
  std::string_view called = argc > 0 ? argv[0] : "";
  called = called.substr(called.rfind('/') + 1);
  if (called == "ares-rsh")
    return ares::cli::run_main("ares-rsh", argc, argv, ares::arun::run_remote_shell);
  if (called == "ares-allocation")
    return ares::cli::run_main("ares-allocation", argc, argv, ares::arun::hold_allocation);
  return ares::cli::run_main("arun", argc, argv, ares::arun::run);
}
