#include "aacct/step_lines.h"

#include <algorithm>
#include <string>

#include "cli/values/job_ids.h"
#include "cli/values/step_ids.h"
#include "model/job/step_record.h"

namespace ares::aacct {
namespace {

bool is_named(const JobKey& wanted, const api::AccountingRow& job) {
  const JobKey key = cli::key_of(job.key());
  if (wanted == key) return true;
  if (!wanted.task.is_none()) return false;
  return wanted.job == key.job || wanted.job.value() == job.own_id();
}

// The job's row with the values of a step. What only a job has is empty.
api::AccountingRow row_of(const api::AccountingRow& job, const api::AccountingStep& step) {
  api::AccountingRow row = job;
  row.clear_steps();
  row.set_name(step.name());
  row.clear_user();
  row.clear_partition();
  row.clear_qos();
  row.clear_reason();
  row.clear_cause();
  row.clear_comment();
  row.clear_requested_tres();
  row.clear_allocated_tres();
  row.set_state(step.state());
  row.clear_cancelled_by();
  if (step.has_cancelled_by()) row.set_cancelled_by(step.cancelled_by());
  row.set_exit_code(step.exit_code());
  row.set_exit_signal(step.exit_signal());
  row.set_submitted(step.started());
  row.set_eligible(step.started());
  row.set_started(step.started());
  row.set_ended(step.ended());
  row.clear_suspended();
  row.clear_suspended_at();
  row.set_cpus(step.cpus());
  row.set_tasks(step.tasks());
  row.set_node_count(step.node_count());
  row.set_node_list(step.node_list());
  row.set_user_cpu(step.user_cpu());
  row.set_system_cpu(step.system_cpu());
  row.set_max_rss(step.max_rss());
  row.set_max_rss_node(step.max_rss_node());
  row.set_disk_read(step.disk_read());
  row.set_disk_written(step.disk_written());
  row.clear_max_disk_read();
  row.clear_max_disk_written();
  row.clear_max_disk_read_node();
  row.clear_max_disk_written_node();
  return row;
}

}  // namespace

void each_line(const Query& query, const api::AccountingRow& job, const TakeLine& take) {
  const auto& named = query.ids.steps;
  const auto& whole = query.ids.whole;
  const bool all =
      named.empty() || std::any_of(whole.begin(), whole.end(),
                                   [&](const JobKey& wanted) { return is_named(wanted, job); });
  if (all) take(job, nullptr);
  if (query.allocations) return;
  for (const api::AccountingStep& step : job.steps()) {
    const bool wanted = all || std::any_of(named.begin(), named.end(), [&](const cli::StepId& id) {
                          return id.step == step.number() && is_named(id.job, job);
                        });
    if (wanted) take(row_of(job, step), &step);
  }
}

std::string derived_exit_code(const api::AccountingRow& job) {
  std::int32_t code = 0, signal = 0;
  for (const api::AccountingStep& step : job.steps()) {
    if (step.number() == kBatchStep) continue;
    if (step.exit_code() > code) {
      code = step.exit_code();
      signal = step.exit_signal();
    } else if (step.exit_code() == code) {
      signal = std::max(signal, step.exit_signal());
    }
  }
  return std::to_string(code) + ":" + std::to_string(signal);
}

}  // namespace ares::aacct
