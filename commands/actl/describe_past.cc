// actl show job of a job that only accounting still has.
#include <algorithm>

#include "actl/describe.h"
#include "actl/lines.h"
#include "base/file_pattern.h"
#include "base/hostlist.h"

namespace ares::actl {
namespace {

std::string recorded_run_time(const api::AccountingRow& row, Time now) {
  if (row.started() == 0) return format_duration(Seconds(0));
  const std::int64_t end = row.ended()          ? row.ended()
                           : row.suspended_at() ? row.suspended_at()
                                                : now.time_since_epoch().count();
  const std::int64_t ran = end - row.started() - row.suspended();
  return format_duration(Seconds(std::max<std::int64_t>(0, ran / 1'000'000)));
}

// 0 is the default of the partition, which accounting does not record.
std::string recorded_limit(const api::AccountingRow& row) {
  if (row.has_time_limit() && row.time_limit() == 0) return "Partition_Limit";
  return limit_text(row.has_time_limit(), row.time_limit());
}

std::string recorded_group(const api::AccountingRow& row) {
  const std::string number = std::to_string(row.gid());
  return row.group().empty() ? number : row.group() + "(" + number + ")";
}

void add_recorded_files(Lines& lines, const api::AccountingRow& row,
                        const std::string& first_node) {
  const bool array = row.key().has_task() || !row.array_spec().empty();
  PatternValues values;
  values.array = row.key().job();
  if (row.key().has_task() || !array) {
    values.job = row.own_id();
    values.task = row.key().has_task() ? row.key().task() : 0;
  }
  if (!first_node.empty()) {
    values.node = first_node;
    values.node_rank = 0;
  }
  values.restarts = row.restarts();
  values.user = row.user();
  values.name = row.name();
  const auto file = [&](const std::string& pattern) {
    const std::string name = expand_pattern(pattern, values);
    return name.starts_with('/') || row.work_dir().empty() ? name : row.work_dir() + "/" + name;
  };
  const std::string out =
      row.std_out().empty() ? std::string(default_output(array)) : row.std_out();
  lines.add("WorkDir", row.work_dir()).end_line();
  lines.add("StdIn", row.std_in().empty() ? "/dev/null" : file(row.std_in())).end_line();
  lines.add("StdOut", file(out)).end_line();
  lines.add("StdErr", file(row.std_err().empty() ? out : row.std_err())).end_line();
}

}  // namespace

std::string describe(const api::AccountingRow& row, Time now, bool one_line) {
  Lines lines;
  lines.count("JobId", row.own_id());
  if (row.key().has_task())
    lines.count("ArrayJobId", row.key().job()).count("ArrayTaskId", row.key().task());
  else if (!row.array_tasks().empty())
    lines.count("ArrayJobId", row.key().job()).add("ArrayTaskId", row.array_tasks());
  lines.add("JobName", row.name()).end_line();
  lines.add("UserId", row.user() + "(" + std::to_string(row.uid()) + ")")
      .add("GroupId", recorded_group(row))
      .end_line();
  lines.count("Priority", row.priority())
      .add("Account", or_null(row.account()))
      .add("QOS", or_null(row.qos()));
  if (!row.wckey().empty()) lines.add("WCKey", row.wckey());
  lines.end_line();
  lines.add("JobState", row.state())
      .add("Reason", row.reason().empty() ? "None" : row.reason())
      .end_line();
  lines.add("Source", "accounting").end_line();
  if (!row.cause().empty()) lines.add("Cause", row.cause()).end_line();
  lines.count("Restarts", row.restarts())
      .count("Attempt", row.attempt())
      .add("ExitCode", std::to_string(row.exit_code()) + ":" + std::to_string(row.exit_signal()));
  if (row.has_cancelled_by()) lines.count("CancelledBy", row.cancelled_by());
  lines.end_line();
  if (row.suspended() > 0)
    lines.add("SecsSuspended", std::to_string(row.suspended() / 1'000'000)).end_line();
  lines.add("RunTime", recorded_run_time(row, now))
      .add("TimeLimit", recorded_limit(row))
      .end_line();
  lines.add("SubmitTime", time_text(row.submitted()))
      .add("EligibleTime", time_text(row.eligible()))
      .end_line();
  lines.add("StartTime", time_text(row.started()))
      .add("EndTime", time_text(row.ended()))
      .end_line();
  lines.add("Partition", row.partition()).add("SubmitHost", or_null(row.submit_host())).end_line();
  const auto hosts = expand_hostlist(row.node_list());
  const std::string first = hosts && !hosts->empty() ? hosts->front() : "";
  lines.add("NodeList", or_null(row.node_list())).add("BatchHost", or_null(first)).end_line();
  lines.count("NumNodes", row.node_count())
      .count("NumCPUs", row.cpus())
      .count("NumTasks", std::max(row.tasks(), 1u))
      .end_line();
  lines.add("ReqTRES", or_null(row.requested_tres())).end_line();
  lines.add("AllocTRES", or_null(row.allocated_tres())).end_line();
  lines.add("Features", or_null(row.constraints())).add("Licenses", or_null(row.licenses()));
  if (row.exclusive()) lines.add("OverSubscribe", "NO");
  lines.end_line();
  add_recorded_files(lines, row, first);
  if (!row.comment().empty()) lines.add("Comment", row.comment()).end_line();
  return lines.text(one_line);
}

}  // namespace ares::actl
