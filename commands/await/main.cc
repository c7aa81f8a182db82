// await: waits for jobs to end, and ends with the highest of their exit codes.
#include <algorithm>
#include <cstdio>

#include "cli/jobs/wait.h"
#include "cli/options/frame.h"
#include "cli/options/options.h"
#include "cli/values/job_ids.h"

namespace ares::await {
namespace {

struct Wanted {
  cli::CommonOptions common;
  bool quiet = false;
  cli::ColourWhen colour = cli::ColourWhen::automatic;
};

cli::OptionTable options(Wanted& wanted) {
  cli::OptionTable table;
  table.options = {{'q', "quiet", "", "Do not say which jobs failed, and show no progress.",
                    cli::set_flag(wanted.quiet)},
                   cli::colour_option(wanted.colour)};
  cli::add_common_options(table, wanted.common);
  return table;
}

const cli::Manual& manual() {
  static const cli::Manual text = {
      .name = "await",
      .summary = "wait for jobs to end",
      .synopsis = {"[OPTIONS] JOB..."},
      .description =
          {"Returns when every job named has ended: 12, an array 12 with all of its tasks, one "
           "task 12_3, or lists of them separated by commas. The controller answers as soon as "
           "that is so; a restart of the controller meanwhile is waited out. A job that ended "
           "days ago is known from accounting.",
           "If standard error is a terminal, a line there says how far the job is: \"job 12: "
           "pending (Resources)\", \"job 12: running 00:01:10\", \"array 12: 3 of 10 ended, 2 "
           "running\". It is cleared at the end.",
           "It does not matter whose jobs they are, or whether they have ended before."},
      .sections = {{"Exit status",
                    {"The highest exit code of the jobs: 0 if all have completed, that of the "
                     "script, 128 + N for a script that signal N ended, 1 for a job that failed "
                     "without either, such as one that was cancelled while it waited. 1 also if a "
                     "job does not exist."}}},
      .examples = {{"await 12 13", "Two jobs."},
                   {"await $(asub --parsable a.sh) && asub b.sh", "b.sh only if a.sh succeeds."}},
      .see_also = {"asub(1)", "aqueue(1)", "aacct(1)", "aeff(1)"}};
  return text;
}

Result<int> wait_for_all(const Wanted& wanted, const std::vector<JobKey>& jobs) {
  auto client = cli::open_client("await", wanted.common, cli::RetryPolicy::change, wanted.quiet);
  if (!client) return fail(client.error());
  int highest = 0;
  for (const JobKey& job : jobs) {
    const Result<int> code = cli::wait_for_end(*client, job, !wanted.quiet, wanted.colour);
    if (!code) return fail(code.error());
    if (*code != 0 && !wanted.quiet)
      std::fprintf(stderr, "await: job %s ended with exit code %d\n",
                   cli::format_job_id(job).c_str(), *code);
    highest = std::max(highest, *code);
  }
  return highest;
}

Result<int> run(const cli::Words& words) {
  Wanted wanted;
  const cli::OptionTable table = options(wanted);
  return cli::run_line(
      manual(), table, wanted.common, words, [&](const cli::Words& operands) -> Result<int> {
        std::vector<JobKey> jobs;
        for (const std::string& operand : operands) {
          const auto some = cli::parse_job_ids(operand);
          if (!some) return fail(some.error());
          jobs.insert(jobs.end(), some->begin(), some->end());
        }
        if (jobs.empty())
          return fail(ErrorCode::invalid_argument, "name the jobs to wait for: await 12 13_4");
        return wait_for_all(wanted, jobs);
      });
}

}  // namespace
}  // namespace ares::await

int main(int argc, char** argv) {
  return ares::cli::run_main("await", argc, argv, ares::await::run);
}
