// `completing`: the jobs that are ending, and the nodes that they wait for.
#include <cstdio>

#include "actl/command.h"
#include "actl/describe.h"
#include "actl/lines.h"
#include "base/hostlist.h"
#include "cli/output/json.h"
#include "cli/values/job_ids.h"

namespace ares::actl {

std::string describe_completing(const api::Job& job) {
  std::vector<std::string> nodes;
  for (const api::NodeShare& share : job.shares())
    if (share.phase() != "released") nodes.push_back(share.node());
  Lines lines;
  lines.add("JobId", cli::format_job_id(cli::key_of(job.key()))).add("JobName", job.name());
  lines.add("Nodes(COMPLETING)", or_null(compress_hostlist(nodes)));
  if (!job.silent_nodes().empty())
    lines.add("Nodes(SILENT)", job.silent_nodes())
        .add("SilentSince", time_text(job.silent_since()))
        .add("DeadAt", time_text(job.dead_at()));
  return lines.text(true);
}

Result<int> show_completing(Context& context, const Words& operands) {
  if (!operands.empty()) return invalid("completing takes no argument");
  api::Request request;
  request.mutable_list_jobs()->add_states("COMPLETING");
  request.mutable_list_jobs()->set_details(true);
  const auto response = context.call_for_all(request);
  if (!response) return fail(response.error());
  if (context.flags.document) {
    cli::print_document(context.flags.document, cli::to_json(response->jobs()));
    return 0;
  }
  for (const api::Job& job : response->jobs().jobs())
    std::fputs(describe_completing(job).c_str(), stdout);
  if (response->jobs().jobs().empty() && !context.flags.quiet) std::puts("No jobs are completing");
  return 0;
}

}  // namespace ares::actl
