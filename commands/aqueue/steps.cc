#include "aqueue/steps.h"

#include <algorithm>
#include <span>

#include "base/duration.h"
#include "base/time.h"
#include "cli/output/table.h"
#include "cli/values/job_ids.h"

namespace ares::aqueue {
namespace {

struct Line {
  const cli::RunningStep& step;
  std::string run_time;
};

struct StepColumn {
  const char* header;
  bool right;
  std::string (*text)(const Line& line);
};

constexpr StepColumn kColumns[] = {
    {"STEPID", true, [](const Line& line) { return line.step.id; }},
    {"NAME", true, [](const Line& line) { return line.step.name; }},
    {"PARTITION", true, [](const Line& line) { return line.step.partition; }},
    {"USER", true, [](const Line& line) { return line.step.user; }},
    {"TIME", true, [](const Line& line) { return line.run_time; }},
    {"NODELIST", false, [](const Line& line) { return line.step.node_list; }},
};

cli::Grid empty_grid() {
  std::vector<cli::FormatItem> items;
  std::vector<cli::GridColumn> columns;
  for (const StepColumn& column : kColumns) {
    cli::FormatItem item;
    item.name = column.header;
    item.fit = true;
    item.right = column.right;
    item.literal = " ";
    items.push_back(std::move(item));
    columns.push_back({column.header});
  }
  items.back().literal.clear();
  return {std::move(items), std::move(columns)};
}

bool is_in_partition(const Query& query, const std::string& partition) {
  const auto& wanted = query.filter.partitions();
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), partition) != wanted.end();
}

}  // namespace

Status check_for_steps(const Query& query) {
  if (query.listing.document &&
      (!query.step_ids.steps.empty() || query.filter.partitions_size() > 0))
    return fail(ErrorCode::invalid_argument,
                "--json has all steps of the jobs; leave out --partition and numbers of steps");
  api::ListJobs rest = query.filter;
  rest.clear_jobs();
  rest.clear_users();
  rest.clear_partitions();
  if (rest.ByteSizeLong() == 0 && query.shape == Query::Shape::usual && !query.why &&
      !query.not_me && !query.each_partition && !query.listing.has_own_format() &&
      query.listing.sort.empty())
    return {};
  return fail(ErrorCode::invalid_argument,
              "--steps lists steps that run, and goes with --jobs, --user, --me, --partition, "
              "--noheader, --iterate, --json and --yaml only");
}

api::ListUse use_filter_of(const Query& query, std::uint32_t uid) {
  api::ListUse filter;
  *filter.mutable_users() = query.filter.users();
  if (query.me) filter.add_users(std::to_string(uid));
  *filter.mutable_jobs() = query.filter.jobs();
  for (const JobKey& key : query.step_ids.jobs())
    cli::add_refs(filter.mutable_jobs(), std::span(&key, 1));
  return filter;
}

std::string list_steps(const Query& query, const api::RunningUse& use) {
  cli::JobOrStepIds wanted = query.step_ids;
  for (const api::JobRef& ref : query.filter.jobs()) wanted.whole.push_back(cli::key_of(ref));
  cli::Grid grid = empty_grid();
  for (const cli::RunningStep& step : cli::running_steps(use, wanted)) {
    if (!is_in_partition(query, step.partition)) continue;
    const auto ran = std::chrono::floor<Seconds>(Duration(use.now() - step.started));
    const Line line{step, format_duration_short(std::max(ran, Seconds(0)))};
    for (const StepColumn& column : kColumns) {
      grid.text() += column.text(line);
      grid.end_cell();
    }
    grid.end_row();
  }
  return grid.layout(!query.listing.no_header);
}

}  // namespace ares::aqueue
