// aalloc: gets an allocation and runs a command, or the user's shell, with it. Called as salloc, by
// contrib/slurm: its messages are in Slurm's words where scripts read them.
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "aalloc/command.h"
#include "aalloc/options.h"
#include "cli/options/frame.h"
#include "cli/values/job_ids.h"
#include "step_client/allocation.h"
#include "submission/allocation_request.h"
#include "submission/refused_options.h"
#include "submission/submit_line.h"

namespace ares::aalloc {
namespace {

std::string users_shell() {
  const char* const shell = std::getenv("SHELL");
  return shell && *shell == '/' ? shell : "/bin/sh";
}

Result<int> allocate(const char* program, Wanted& wanted, std::vector<std::string> words) {
  if (!wanted.shell && !words.empty())
    return fail(ErrorCode::invalid_argument,
                "--no-shell runs no command, and " + words.front() + " is one");
  if (Status good = submission::check_not_heterogeneous(words); !good) return fail(good.error());
  if (words.empty()) words.push_back(users_shell());
  const char* const path = std::getenv("PATH");
  auto request =
      submission::allocation_request(wanted.job, wanted.shell ? words.front() : "no-shell",
                                     step_client::holding_script(wanted.shell),
                                     step_client::holding_environment(path ? path : ""));
  if (!request) return fail(request.error());
  submission::print_warnings(program, wanted.job);
  const auto open = [&] {
    return cli::open_client(program, wanted.job.common, cli::RetryPolicy::change, wanted.job.quiet);
  };
  const bool is_salloc = std::string_view(program) == "salloc";
  auto allocation =
      step_client::Allocation::obtain(open, std::move(*request),
                                      {.program = program,
                                       .refused = is_salloc ? "Job submit/allocate failed: " : "",
                                       .quiet = wanted.job.quiet,
                                       .announce = true,
                                       .bell = wanted.bell,
                                       .immediate = wanted.immediate,
                                       .held = wanted.shell});
  if (!allocation) return fail(allocation.error());
  if (!wanted.shell) return 0;
  Result<int> code = run_command(words, *allocation, wanted.kill_command);
  allocation->release(code.value_or(1));
  return code;
}

Result<int> run_as(const char* program, const cli::Words& words) {
  Wanted wanted;
  wanted.job.submit_line = submission::submit_line("aalloc", words);
  const cli::OptionTable table = options(wanted, cli::clock_now());
  return cli::run_line(manual(), table, wanted.job.common, words, [&](cli::Words operands) {
    return allocate(program, wanted, std::move(operands));
  });
}

Result<int> run(const cli::Words& words) {
  return run_as("aalloc", words);
}

Result<int> run_as_salloc(const cli::Words& words) {
  return run_as("salloc", words);
}

}  // namespace
}  // namespace ares::aalloc

int main(int argc, char** argv) {
  std::string_view called = argc > 0 ? argv[0] : "";
  called = called.substr(called.rfind('/') + 1);
  if (called == "salloc")
    return ares::cli::run_main("salloc: error", argc, argv, ares::aalloc::run_as_salloc);
  return ares::cli::run_main("aalloc", argc, argv, ares::aalloc::run);
}
