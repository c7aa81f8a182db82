// aeff: how well jobs used what they had.
#include <cstdio>
#include <span>
#include <vector>

#include "aeff/efficiency.h"
#include "cli/options/frame.h"
#include "cli/options/options.h"
#include "cli/values/job_ids.h"

namespace ares::aeff {
namespace {

struct Wanted {
  cli::CommonOptions common;
};

cli::OptionTable options(Wanted& wanted) {
  cli::OptionTable table;
  cli::add_common_options(table, wanted.common);
  return table;
}

const cli::Manual& manual() {
  static const cli::Manual text = {
      .name = "aeff",
      .summary = "how well a job used its CPUs and its memory",
      .synopsis = {"[OPTIONS] JOB..."},
      .description =
          {"Compares what jobs used with what they had, from accounting: 12, an array 12 task by "
           "task, one task 12_3, or lists of them separated by commas. The lines are those of "
           "Slurm's seff.",
           "CPU Efficiency is the CPU time of the job's processes, of the number of its CPUs times "
           "how long it ran. Memory Efficiency is the most memory it used on one node, of what was "
           "reserved on each; with the page cache that the kernel charges to the job. What GPUs "
           "did is not measured; the time for which the job held them is told.",
           "A job that runs has no efficiency yet: astat(1) tells what it uses."},
      .sections = {},
      .examples = {{"aeff 12", "One job."}},
      .see_also = {"aacct(1)", "astat(1)", "areport(1)"}};
  return text;
}

Result<int> show(const Wanted& wanted, const std::vector<JobKey>& jobs) {
  auto client = cli::open_client("aeff", wanted.common, cli::RetryPolicy::query);
  if (!client) return fail(client.error());
  api::Request request;
  cli::add_refs(request.mutable_accounting()->mutable_jobs(), std::span(jobs));
  bool any = false;
  for (;;) {
    auto response = client->call(request);
    if (!response) return fail(response.error());
    const api::AccountingRows& rows = response->accounting();
    for (const api::AccountingRow& row : rows.rows()) {
      if (row.superseded()) continue;
      if (any) std::puts("");
      any = true;
      std::fputs(describe(row, rows.cluster(), Time(Duration(rows.now()))).c_str(), stdout);
    }
    if (!rows.more()) break;
    *request.mutable_accounting()->mutable_after() = rows.last();
    request.clear_request_id();
  }
  if (!any) return fail(ErrorCode::not_found, "accounting knows none of these jobs");
  return 0;
}

Result<int> run(const cli::Words& words) {
  Wanted wanted;
  const cli::OptionTable table = options(wanted);
  return cli::run_line(manual(), table, wanted.common, words,
                       [&](const cli::Words& operands) -> Result<int> {
                         std::vector<JobKey> jobs;
                         for (const std::string& operand : operands) {
                           const auto some = cli::parse_job_ids(operand);
                           if (!some) return fail(some.error());
                           jobs.insert(jobs.end(), some->begin(), some->end());
                         }
                         if (jobs.empty())
                           return fail(ErrorCode::invalid_argument, "name a job: aeff 12");
                         return show(wanted, jobs);
                       });
}

}  // namespace
}  // namespace ares::aeff

int main(int argc, char** argv) {
  return ares::cli::run_main("aeff", argc, argv, ares::aeff::run);
}
