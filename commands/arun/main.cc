// arun: runs a program as the tasks of a step. Called as ares-rsh: runs a command on one node of the job.
// Called as ares-allocation: waits as the batch script of an interactive allocation. Called as srun, by
// contrib/slurm: its messages are in Slurm's words where scripts read them.
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arun/beside.h"
#include "arun/broadcast.h"
#include "arun/holder.h"
#include "arun/options.h"
#include "arun/place.h"
#include "arun/session.h"
#include "auth/shared_key.h"
#include "cli/options/frame.h"
#include "cli/output/text.h"
#include "step_client/allocation.h"
#include "step_client/reach.h"
#include "submission/allocation_request.h"
#include "submission/refused_options.h"
#include "submission/submit_line.h"

namespace ares::arun {
namespace {

// Exit code of a command that a signal asked to end, less the signal.
constexpr int kSignalled = 128;

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
  const auto open = [&] {
    return cli::open_client(wanted.program, wanted.common, cli::RetryPolicy::change, wanted.quiet);
  };
  step_client::AllocationWishes wishes{.program = wanted.program, .quiet = wanted.quiet};
  if (wanted.is_srun()) wishes.refused = "Unable to allocate resources: ";
  if (wanted.request.immediate) wishes.immediate = Seconds(1);
  Result<step_client::Allocation> allocation =
      step_client::Allocation::obtain(open, std::move(*request), std::move(wishes));
  if (!allocation) return fail(allocation.error());
  Result<os::Fd> host =
      step_client::reach(allocation->client(), allocation->job(), allocation->interrupt());
  if (!host) {
    allocation->release(1);
    return fail(host.error());
  }
  return OwnJob{{std::move(*host), step_client::merged(own_environment(), allocation->variables())},
                std::move(*allocation)};
}

// Within a job there is an allocation, so options that ask for one have no effect. Those by which a step
// would have other tasks, nodes or resources are refused.
Status check_options_of_allocations(const Wanted& wanted) {
  constexpr std::string_view kChangeSteps[] = {"constraint",     "cpus-per-gpu", "gpu-topology",
                                               "mem-per-gpu",    "min-nvlink",   "nodefile",
                                               "ntasks-per-gpu", "tres-bind",    "tres-per-task"};
  for (const std::string& name : wanted.of_allocation)
    if (std::find(std::begin(kChangeSteps), std::end(kChangeSteps), name) != std::end(kChangeSteps))
      return fail(ErrorCode::invalid_argument,
                  "--" + name +
                      " asks for an allocation, and within a job there is one; not supported for a "
                      "step yet");
  if (wanted.quiet) return {};
  for (const std::string& name : wanted.of_allocation)
    std::fprintf(stderr, "%s: warning: --%s has no effect within a job\n", wanted.program.c_str(),
                 name.c_str());
  return {};
}

// Connects to the job again, for one step after the other.
using FindPlace = std::function<Result<Place>()>;

// The path of a program as execvp(3) finds it.
std::string found_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : cli::split(path ? path : "", ':')) {
    std::string file = (folder.empty() ? "." : folder) + "/" + program;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return program;
}

// Where --bcast puts the copy. No other user can guess a name that is not given.
std::string place_of_copy(const std::string& wanted, const std::string& program) {
  // Absolute, so that it is the same file for the program's own directory and is not looked for in PATH.
  std::error_code error;
  std::string place = wanted.empty() ? "/tmp/" : std::filesystem::absolute(wanted, error).string();
  if (!place.ends_with('/')) return place;
  constexpr std::size_t kRandomBytes = 8;
  return place + "ares_bcast_" + auth::to_hex(auth::random_bytes(kRandomBytes)) + "_" +
         program.substr(program.rfind('/') + 1);
}

void remove_copy(const std::string& path, const FindPlace& find) {
  Result<Place> place = find();
  const Result<int> removed =
      place ? run_receivers(std::move(*place), {"arun", 0, words_to_remove(path)}, std::nullopt)
            : fail(place.error());
  if (!removed || *removed != 0)
    std::fprintf(stderr, "arun: the copy %s may not have been removed from all nodes%s%s\n",
                 path.c_str(), removed ? "" : ": ", removed ? "" : removed.error().message.c_str());
}

// Runs `step` with a copy of the program on each node.
Result<int> run_copy(const std::string& wanted, bool compressed, const FindPlace& find,
                     cli::Words operands,
                     const std::function<Result<int>(const cli::Words&)>& step) {
  const std::string program = found_in_path(operands.front());
  Result<Source> source = open_source(program);
  if (!source) return fail(source.error());
  Delivery delivery = delivery_of(*source, place_of_copy(wanted, program), false);
  delivery.force = wanted.empty() || wanted.ends_with('/');  // the name is new
  Result<Place> place = find();
  if (!place) return fail(place.error());
  delivery.compressed = compressed;
  std::optional<Compressor> compressor;
  if (compressed) {
    Result<Compressor> made = compress(source->fd.get());
    if (!made) return fail(made.error());
    compressor = std::move(*made);
  }
  Result<int> copied = run_receivers(std::move(*place), {"arun", 0, words_of(delivery)},
                                     compressor ? compressor->output.get() : source->fd.get());
  if (compressor && !has_succeeded(*compressor) && copied && *copied == 0)
    copied = fail(ErrorCode::data_loss, "cannot compress " + program);
  if (delivery.force && (!copied || *copied != 0)) remove_copy(delivery.destination, find);
  if (!copied) return copied;
  if (*copied != 0)
    return fail(ErrorCode::failed_precondition, program + " was not copied to all nodes (--bcast)");
  operands.front() = delivery.destination;
  Result<int> code = step(operands);
  remove_copy(delivery.destination, find);
  return code;
}

Result<int> run_in(const FindPlace& find, Wanted& wanted, const cli::Words& operands) {
  const auto step = [&](const cli::Words& words) -> Result<int> {
    Result<Place> place = find();
    if (!place) return fail(place.error());
    Result<Streams> streams = complete(wanted, place->environment, words);
    if (!streams) return fail(streams.error());
    if (const auto signal = run_beside({wanted.prolog, "--prolog"}, words, place->environment))
      return kSignalled + *signal;
    Result<int> code = Session(wanted, std::move(*streams), std::move(place->host)).run();
    run_beside({wanted.epilog, "--epilog"}, words, place->environment);
    return code;
  };
  if (!wanted.broadcast && wanted.compress)
    return fail(ErrorCode::invalid_argument,
                "--compress is about the copy of --bcast; say --bcast, too");
  if (!wanted.broadcast) return step(operands);
  if (wanted.multi_prog)
    return fail(ErrorCode::invalid_argument,
                "--bcast copies one program, and with --multi-prog there are several");
  return run_copy(*wanted.broadcast, wanted.compress, find, operands, step);
}

Result<int> run_in_own_job(Wanted& wanted, const cli::Words& operands) {
  if (Status set = set_resources(wanted.resources, true, wanted.request); !set)
    return fail(set.error());
  Result<OwnJob> own = allocate(wanted, operands.front());
  if (!own) return fail(own.error());
  bool used = false;
  Result<int> code = run_in(
      [&]() -> Result<Place> {
        if (!std::exchange(used, true)) return std::move(own->place);
        Result<os::Fd> host = step_client::reach(own->allocation.client(), own->allocation.job(),
                                                 own->allocation.interrupt());
        if (!host) return fail(host.error());
        return Place{std::move(*host),
                     step_client::merged(own_environment(), own->allocation.variables())};
      },
      wanted, operands);
  own->allocation.release(code.value_or(1));
  return code;
}

Result<int> run_step(Wanted& wanted, const cli::Words& operands) {
  if (wanted.mpi == "list") {  // libraries of MPI and scripts ask for it
    std::puts("none\npmi1\npmi2\npmix");
    return 0;
  }
  if (operands.empty())
    return fail(ErrorCode::invalid_argument, "name the program to run: arun [OPTIONS] PROGRAM");
  if (Status good = submission::check_not_heterogeneous(operands); !good) return fail(good.error());
  fill_in_process(wanted);
  if (wanted.job.empty() && !is_within_job()) return run_in_own_job(wanted, operands);
  if (Status good = check_options_of_allocations(wanted); !good) return fail(good.error());
  if (Status set = set_resources(wanted.resources, false, wanted.request); !set)
    return fail(set.error());
  return run_in([&] { return find_job(wanted.program, wanted.common, wanted.job, wanted.quiet); },
                wanted, operands);
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

Result<int> run_as(const char* program, const cli::Words& words) {
  Wanted wanted;
  wanted.program = program;
  wanted.request.task.cpus_per_task = 0;  // not said
  wanted.allocation.submit_line = submission::submit_line("arun", words);
  const cli::OptionTable table = options(wanted, cli::clock_now());
  return cli::run_line(manual(), table, wanted.common, words,
                       [&](const cli::Words& operands) { return run_step(wanted, operands); });
}

Result<int> run(const cli::Words& words) {
  return run_as("arun", words);
}

Result<int> run_as_srun(const cli::Words& words) {
  return run_as("srun", words);
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
  if (called == "srun")
    return ares::cli::run_main("srun: error", argc, argv, ares::arun::run_as_srun);
  return ares::cli::run_main("arun", argc, argv, ares::arun::run);
}
