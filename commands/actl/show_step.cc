// actl show step.
#include <cstdio>

#include "actl/command.h"
#include "actl/describe.h"
#include "actl/lines.h"
#include "cli/output/json.h"
#include "cli/output/running_steps.h"
#include "cli/values/job_ids.h"
#include "cli/values/step_ids.h"

namespace ares::actl {

std::string describe(const cli::RunningStep& step, bool one_line) {
  Lines lines;
  lines.add("StepId", step.id).add("UserId", step.user).add("StartTime", time_text(step.started));
  lines.end_line();
  lines.add("State", "RUNNING").add("Partition", step.partition);
  lines.add("NodeList", or_null(step.node_list));
  lines.end_line();
  lines.count("Nodes", step.nodes).count("CPUs", step.cpus).count("Tasks", step.tasks);
  lines.add("Name", step.name);
  return lines.text(one_line);
}

Result<int> show_steps(Context& context, const Words& operands) {
  cli::JobOrStepIds wanted;
  for (const std::string& word : operands) {
    const auto ids = cli::parse_step_ids(word);
    if (!ids) return fail(ids.error());
    wanted.whole.insert(wanted.whole.end(), ids->whole.begin(), ids->whole.end());
    wanted.steps.insert(wanted.steps.end(), ids->steps.begin(), ids->steps.end());
  }
  if (context.flags.document && !wanted.steps.empty())
    return fail(ErrorCode::invalid_argument,
                "--json has all steps of a job; name the job without the number of a step");
  api::ListUse filter;
  cli::add_refs(filter.mutable_jobs(), wanted.jobs());
  const auto use = cli::read_use(
      [&](api::Request request) { return context.call(std::move(request)); }, std::move(filter));
  if (!use) return fail(use.error());
  if (context.flags.document) {
    cli::print_document(context.flags.document, cli::to_json(*use));
    return 0;
  }
  const std::vector<cli::RunningStep> steps = cli::running_steps(*use, wanted);
  for (const cli::RunningStep& step : steps)
    std::fputs(describe(step, context.flags.one_line).c_str(), stdout);
  if (!steps.empty()) return 0;
  if (!operands.empty())
    return fail(ErrorCode::not_found, "no such step runs; aacct shows those that have ended");
  if (!context.flags.quiet) std::puts("No job steps in the system");
  return 0;
}

}  // namespace ares::actl
