#include "aresctld/accounting/step_rows.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/hostlist.h"
#include "model/job/job.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

using Row = api::AccountingRow;

std::string first_node(const Row& row) {
  const auto names = expand_hostlist(row.node_list());
  return names && !names->empty() ? names->front() : std::string();
}

std::string_view batch_state(const Row& row) {
  const auto state = parse_job_state(row.state());
  if (row.ended() == 0) return to_string(StepState::running);
  if (state == JobState::completed) return to_string(StepState::completed);
  if (state == JobState::failed) return to_string(StepState::failed);
  if (state == JobState::out_of_memory) return to_string(StepState::out_of_memory);
  return to_string(StepState::cancelled);
}

// Without other steps what the job used is what its script used.
void add_batch_script(const Row& row, api::AccountingStep& out) {
  out.set_number(kBatchStep);
  out.set_name("batch");
  out.set_state(std::string(batch_state(row)));
  out.set_exit_code(row.exit_code());
  out.set_exit_signal(row.exit_signal());
  out.set_started(row.started());
  out.set_ended(row.ended());
  out.set_steps(1);
  out.set_tasks(1);
  out.set_node_count(1);
  out.set_cpus(row.cpus() / std::max(row.node_count(), 1u));
  out.set_node_list(first_node(row));
  out.set_user_cpu(row.user_cpu());
  out.set_system_cpu(row.system_cpu());
  out.set_max_rss(row.max_rss());
  out.set_sum_rss(row.max_rss());
  out.set_max_rss_node(row.max_rss_node());
  out.set_disk_read(row.disk_read());
  out.set_disk_written(row.disk_written());
}

AttemptKey attempt_of(const Row& row) {
  const api::JobRef& key = row.key();
  return {{JobId(key.job()), key.has_task() ? TaskIndex{key.task()} : TaskIndex{}},
          AttemptNo(row.attempt())};
}

}  // namespace

void to_api(const StepRecord& step, api::AccountingStep& out) {
  out.set_number(step.number);
  out.set_name(step.name);
  out.set_state(std::string(to_string(step.state)));
  if (step.cancelled_by) out.set_cancelled_by(step.cancelled_by->value());
  out.set_exit_code(step.exit_code);
  out.set_exit_signal(step.exit_signal);
  out.set_started(step.started.time_since_epoch().count());
  if (step.ended) out.set_ended(step.ended->time_since_epoch().count());
  out.set_steps(step.steps);
  out.set_tasks(step.tasks);
  out.set_cpus(step.cpus);
  out.set_node_count(step.nodes);
  out.set_node_list(step.node_list);
  out.set_user_cpu(step.user_cpu.count());
  out.set_system_cpu(step.system_cpu.count());
  out.set_max_rss(step.max_rss.value());
  out.set_sum_rss(step.sum_rss.value());
  out.set_max_rss_node(step.max_rss_node);
  out.set_disk_read(step.disk_read.value());
  out.set_disk_written(step.disk_written.value());
}

void complete_steps(const LiveSteps& live, api::AccountingRows& rows) {
  for (Row& row : *rows.mutable_rows()) {
    if (row.started() == 0) continue;
    const bool has_batch = !row.steps().empty() && row.steps(0).number() == kBatchStep;
    if (has_batch) continue;
    row.clear_steps();
    add_batch_script(row, *row.add_steps());
    if (row.ended() != 0) continue;
    for (const StepRecord& step : live(first_node(row), attempt_of(row)))
      to_api(step, *row.add_steps());
  }
}

std::vector<std::uint32_t> fields_of_steps() {
  return {Row::kStateFieldNumber,     Row::kStartedFieldNumber,    Row::kEndedFieldNumber,
          Row::kExitCodeFieldNumber,  Row::kExitSignalFieldNumber, Row::kNodeCountFieldNumber,
          Row::kCpusFieldNumber,      Row::kNodeListFieldNumber,   Row::kUserCpuFieldNumber,
          Row::kSystemCpuFieldNumber, Row::kMaxRssFieldNumber,     Row::kMaxRssNodeFieldNumber,
          Row::kDiskReadFieldNumber,  Row::kDiskWrittenFieldNumber};
}

}  // namespace ares::aresctld
