#include "astat/columns.h"

#include <algorithm>
#include <optional>

#include "base/duration.h"
#include "base/hostlist.h"
#include "base/units.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"
#include "model/job/step_record.h"

namespace ares::astat {
namespace {

using R = const Row&;
using Out = std::string&;

std::int64_t total_cpu(R row) {
  return row.sum.user_cpu() + row.sum.system_cpu();
}

Duration elapsed(R row) {
  return std::max(Duration{}, row.now - Time(Duration(row.sum.started_at())));
}

void put_memory(R row, std::int64_t bytes, Out out) {
  if (row.sum.known() && bytes > 0) out += format_memory_short(Bytes(bytes));
}

void put_cpu(R row, std::int64_t micros, Out out) {
  if (row.sum.known()) out += format_cpu_time(Duration(micros));
}

std::int64_t per_task(R row, std::int64_t amount) {
  return amount / std::max<std::int64_t>(1, row.sum.tasks());
}

cli::Column<Row> column(std::string_view name, std::string_view help, void (*put)(R, Out)) {
  cli::Column<Row> made;
  made.name = made.header = name;
  made.help = help;
  made.put = put;
  return made;
}

std::vector<cli::Column<Row>> make() {
  return {
      column("JobID", "The job, or the task of an array; 12.0 is a step of job 12.",
             [](R r, Out out) {
               out += cli::format_job_id(cli::key_of(r.sum.job()));
               if (!r.step.empty()) out += "." + r.step;
             }),
      column("User", "Whose job it is.", [](R r, Out out) { out += r.sum.user(); }),
      column("Partition", "Where it runs.", [](R r, Out out) { out += r.sum.partition(); }),
      column("NodeList", "Its nodes.", [](R r, Out out) { out += compress_hostlist(r.nodes); }),
      column("NTasks", "Tasks of the job.",
             [](R r, Out out) { out += std::to_string(r.sum.tasks()); }),
      column("NCPUS", "CPUs that it has.",
             [](R r, Out out) { out += std::to_string(r.sum.cpus()); }),
      column("Processes", "Processes now.",
             [](R r, Out out) {
               if (r.sum.known() && r.sum.processes() > 0) out += std::to_string(r.sum.processes());
             }),
      column("RSS", "Memory of its processes now, without the page cache.",
             [](R r, Out out) { put_memory(r, r.sum.memory(), out); }),
      column("AveRSS", "RSS divided by the number of tasks.",
             [](R r, Out out) { put_memory(r, per_task(r, r.sum.memory()), out); }),
      column("MaxRSS",
             "The most that it held on one node so far, page cache included; of a step, that one "
             "task held.",
             [](R r, Out out) { put_memory(r, r.sum.max_rss(), out); }),
      column("MaxRSSNode", "The node of MaxRSS.",
             [](R r, Out out) {
               if (r.sum.max_rss() > 0) out += r.sum.node();
             }),
      column("ReqMem", "Memory that it has on its nodes; empty: it named none.",
             [](R r, Out out) {
               if (r.sum.memory_allocated() > 0)
                 out += format_memory_short(Bytes(r.sum.memory_allocated()));
             }),
      column("MemEff", "RSS as a part of ReqMem.",
             [](R r, Out out) {
               if (r.sum.known())
                 out += cli::percent_text(static_cast<double>(r.sum.memory()),
                                          static_cast<double>(r.sum.memory_allocated()));
             }),
      column("UserCPU", "CPU time in user mode so far.",
             [](R r, Out out) { put_cpu(r, r.sum.user_cpu(), out); }),
      column("SystemCPU", "CPU time in the kernel so far.",
             [](R r, Out out) { put_cpu(r, r.sum.system_cpu(), out); }),
      column("TotalCPU", "UserCPU and SystemCPU.",
             [](R r, Out out) { put_cpu(r, total_cpu(r), out); }),
      column("AveCPU", "TotalCPU divided by the number of tasks.",
             [](R r, Out out) { put_cpu(r, per_task(r, total_cpu(r)), out); }),
      column("DiskRead", "What it has read from storage so far.",
             [](R r, Out out) { put_memory(r, r.sum.disk_read(), out); }),
      column("DiskWrite", "What it has written to storage so far.",
             [](R r, Out out) { put_memory(r, r.sum.disk_written(), out); }),
      column("AveDiskRead", "DiskRead divided by the number of tasks.",
             [](R r, Out out) { put_memory(r, per_task(r, r.sum.disk_read()), out); }),
      column("AveDiskWrite", "DiskWrite divided by the number of tasks.",
             [](R r, Out out) { put_memory(r, per_task(r, r.sum.disk_written()), out); }),
      column("CPUEff", "TotalCPU as a part of what its CPUs could have given since its start.",
             [](R r, Out out) {
               // Until the node told, so that a number that does not grow is not divided by a time that does.
               const Duration until =
                   Time(Duration(r.sum.heard_at())) - Time(Duration(r.sum.started_at()));
               if (r.sum.known())
                 out += cli::percent_text(static_cast<double>(total_cpu(r)),
                                          static_cast<double>(until.count()) * r.sum.cpus());
             }),
      column("Elapsed", "Time since its start.",
             [](R r, Out out) {
               out += format_duration(std::chrono::duration_cast<Seconds>(elapsed(r)));
             }),
      column("Age", "Time since a node told this last.",
             [](R r, Out out) {
               if (!r.sum.known()) return;
               const Duration age = std::max(Duration{}, r.now - Time(Duration(r.sum.heard_at())));
               out += format_duration_short(std::chrono::duration_cast<Seconds>(age));
             }),
  };
}

void add(Row& row, const api::RunningUse::Line& line) {
  api::RunningUse::Line& sum = row.sum;
  row.nodes.push_back(line.node());
  if (line.max_rss() > sum.max_rss()) {
    sum.set_max_rss(line.max_rss());
    sum.set_node(line.node());
  }
  sum.set_cpus(sum.cpus() + line.cpus());
  sum.set_tasks(sum.tasks() + line.tasks());
  sum.set_memory_allocated(sum.memory_allocated() + line.memory_allocated());
  sum.set_user_cpu(sum.user_cpu() + line.user_cpu());
  sum.set_system_cpu(sum.system_cpu() + line.system_cpu());
  sum.set_memory(sum.memory() + line.memory());
  sum.set_processes(sum.processes() + line.processes());
  sum.set_disk_read(sum.disk_read() + line.disk_read());
  sum.set_disk_written(sum.disk_written() + line.disk_written());
  if (!line.known()) return;
  // The oldest, because the sums are as old as that.
  sum.set_heard_at(sum.known() ? std::min(sum.heard_at(), line.heard_at()) : line.heard_at());
  sum.set_known(true);
}

}  // namespace

std::vector<Row> rows_of(const api::RunningUse& use, bool by_node) {
  std::vector<Row> rows;
  for (const api::RunningUse::Line& line : use.lines()) {
    const bool same =
        !rows.empty() && cli::key_of(rows.back().sum.job()) == cli::key_of(line.job());
    if (same && !by_node) {
      add(rows.back(), line);
    } else {
      rows.push_back({line, {line.node()}, Time(Duration(use.now()))});
    }
  }
  return rows;
}

namespace {

bool is_wanted(const cli::JobOrStepIds& ids, const JobKey& job, std::int64_t step) {
  return std::any_of(ids.steps.begin(), ids.steps.end(), [&](const cli::StepId& id) {
    return id.step == step && id.job.job == job.job && (id.job.task.is_none() || id.job == job);
  });
}

Row row_of(const api::RunningUse::Line& job, const api::AccountingStep& step, Time now) {
  Row row{{}, {}, now, cli::format_step(step.number())};
  api::RunningUse::Line& sum = row.sum;
  *sum.mutable_job() = job.job();
  sum.set_user(job.user());
  sum.set_partition(job.partition());
  sum.set_cpus(step.cpus());
  sum.set_tasks(step.tasks());
  sum.set_started_at(step.started());
  sum.set_known(true);
  sum.set_heard_at(job.heard_at());
  sum.set_user_cpu(step.user_cpu());
  sum.set_system_cpu(step.system_cpu());
  sum.set_max_rss(step.max_rss());
  sum.set_node(step.max_rss_node());
  sum.set_disk_read(step.disk_read());
  sum.set_disk_written(step.disk_written());
  if (auto names = expand_hostlist(step.node_list())) row.nodes = std::move(*names);
  return row;
}

}  // namespace

std::vector<Row> step_rows(const api::RunningUse& use, const cli::JobOrStepIds& ids, bool all) {
  std::vector<Row> rows;
  const Time now{Duration(use.now())};
  std::optional<JobKey> last;
  for (const api::RunningUse::Line& line : use.lines()) {
    const JobKey job = cli::key_of(line.job());
    const bool first = last != job;
    last = job;
    if (first && (all || is_wanted(ids, job, kBatchStep))) {
      // What the first node counts, less what its steps used there, is not known while it runs.
      Row row{line, {line.node()}, now, cli::format_step(kBatchStep)};
      row.sum.set_tasks(1);
      row.sum.clear_steps();
      rows.push_back(std::move(row));
    }
    for (const api::AccountingStep& step : line.steps())
      if (step.ended() == 0 && (all || is_wanted(ids, job, step.number())))
        rows.push_back(row_of(line, step, now));
  }
  return rows;
}

const cli::Columns<Row>& columns() {
  static const cli::Columns<Row> kColumns =
      cli::make_columns<Row>({make}, {},
                             {"AveVMSize", "MaxVMSize", "AvePages", "MaxPages", "MaxDiskRead",
                              "MaxDiskWrite", "MaxRSSTask", "MinCPU", "MinCPUNode", "MinCPUTask",
                              "ConsumedEnergy", "Pids", "TRESUsageInAve", "TRESUsageInMax"});
  return kColumns;
}

}  // namespace ares::astat
