#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "aacct/field_groups.h"
#include "base/duration.h"
#include "base/printable.h"
#include "cli/output/text.h"

namespace ares::aacct {
namespace {

Seconds cpu_time(R r) {
  return elapsed(*r.job, r.now) * r.job->cpus();
}

// In hours of whole GPUs: two hours of half a GPU count as one.
Seconds gpu_time(R r) {
  return (elapsed(*r.job, r.now) + suspended(*r.job, r.now)) *
         tres_thousandths(r.job->allocated_tres(), "gres/gpu") / 1000;
}

double megabytes_a_node(R r) {
  return r.job->node_count() ? static_cast<double>(tres_amount(r.job->allocated_tres(), "mem")) /
                                   static_cast<double>(r.job->node_count())
                             : 0;
}

std::int64_t tasks_of(R r) {
  return std::max<std::int64_t>(1, r.job->tasks());
}

// "cpu=00:01:30,fs/disk=4096,mem=3M": what is known of an amount of each kind, as Slurm names them.
class Amounts {
 public:
  explicit Amounts(R row) : units_(row.units) {}

  Amounts& cpu(std::int64_t micros) {
    return add("cpu", format_duration(std::chrono::floor<Seconds>(Duration(micros))));
  }
  Amounts& disk(std::int64_t bytes) { return add("fs/disk", std::to_string(bytes)); }
  Amounts& memory(std::int64_t bytes) { return add("mem", measured_memory_text(bytes, units_)); }
  Amounts& add(const char* name, const std::string& amount) {
    if (!amount.empty()) text_ += (text_.empty() ? "" : ",") + std::string(name) + "=" + amount;
    return *this;
  }
  std::string text() { return std::move(text_); }

 private:
  Units units_;
  std::string text_;
};

std::int64_t total_cpu(R r) {
  return r.job->user_cpu() + r.job->system_cpu();
}

// What was measured for tasks is only known of steps, what was measured for nodes only of jobs.
std::vector<Field> combined_fields() {
  return {
      {"TRESUsageInTot",
       14,
       "CPU time, bytes read and, of a step, the most memory of its tasks added up",
       {kUser, kSystem, A::kDiskReadFieldNumber},
       [](R r) {
         return Amounts(r)
             .cpu(total_cpu(r))
             .disk(r.job->disk_read())
             .memory(r.step ? r.step->sum_rss() : 0)
             .text();
       }},
      {"TRESUsageInAve",
       14,
       "the same divided by the number of tasks",
       {kUser, kSystem, A::kDiskReadFieldNumber, A::kTasksFieldNumber},
       [](R r) {
         return Amounts(r)
             .cpu(total_cpu(r) / tasks_of(r))
             .disk(r.job->disk_read() / tasks_of(r))
             .memory(r.step ? r.step->sum_rss() / tasks_of(r) : 0)
             .text();
       }},
      {"TRESUsageInMax",
       14,
       "MaxRSS and, of a job, MaxDiskRead in bytes",
       {kRss, A::kMaxDiskReadFieldNumber},
       [](R r) {
         Amounts amounts(r);
         if (!r.step) amounts.disk(r.job->max_disk_read());
         return amounts.memory(r.job->max_rss()).text();
       }},
      {"TRESUsageInMaxNode",
       18,
       "on which nodes",
       {A::kMaxRssNodeFieldNumber, A::kMaxDiskReadNodeFieldNumber},
       [](R r) {
         return Amounts(r)
             .add("fs/disk", printable(r.job->max_disk_read_node()))
             .add("mem", printable(r.job->max_rss_node()))
             .text();
       }},
      {"TRESUsageOutTot",
       15,
       "bytes written",
       {A::kDiskWrittenFieldNumber},
       [](R r) { return Amounts(r).disk(r.job->disk_written()).text(); }},
      {"TRESUsageOutAve",
       15,
       "the same divided by the number of tasks",
       {A::kDiskWrittenFieldNumber, A::kTasksFieldNumber},
       [](R r) { return Amounts(r).disk(r.job->disk_written() / tasks_of(r)).text(); }},
      {"TRESUsageOutMax",
       15,
       "of a job: MaxDiskWrite in bytes",
       {A::kMaxDiskWrittenFieldNumber},
       [](R r) {
         return r.step ? std::string() : Amounts(r).disk(r.job->max_disk_written()).text();
       }},
      {"TRESUsageOutMaxNode",
       19,
       "on which node",
       {A::kMaxDiskWrittenNodeFieldNumber},
       [](R r) {
         return Amounts(r).add("fs/disk", printable(r.job->max_disk_written_node())).text();
       }},
  };
}

std::vector<Field> plain_fields() {
  return {
      {"CPUTime",
       10,
       "Elapsed times CPUs",
       {kStarted, kEnded, kCpu, kStill, kStillSince},
       [](R r) { return format_duration(cpu_time(r)); }},
      {"CPUTimeRAW",
       10,
       "the same in seconds",
       {kStarted, kEnded, kCpu, kStill, kStillSince},
       [](R r) { return std::to_string(cpu_time(r).count()); }},
      {"GPUTime",
       10,
       "Elapsed times GPUs, which it keeps while it is suspended",
       {kStarted, kEnded, kAlloc, kStill, kStillSince},
       [](R r) { return format_duration(gpu_time(r)); }},
      {"GPUTimeRAW",
       10,
       "the same in seconds",
       {kStarted, kEnded, kAlloc, kStill, kStillSince},
       [](R r) { return std::to_string(gpu_time(r).count()); }},
      {"TotalCPU",
       10,
       "CPU time its processes used",
       {kUser, kSystem},
       [](R r) { return cpu_text(r.job->user_cpu() + r.job->system_cpu()); }},
      {"UserCPU",
       10,
       "of that, in the programs",
       {kUser},
       [](R r) { return cpu_text(r.job->user_cpu()); }},
      {"SystemCPU",
       10,
       "of that, in the kernel",
       {kSystem},
       [](R r) { return cpu_text(r.job->system_cpu()); }},
      {"CPUEff",
       7,
       "TotalCPU of CPUTime, of what has ended",
       {kUser, kSystem, kStarted, kEnded, kCpu, kStill, kStillSince},
       [](R r) {
         return r.job->ended()
                    ? cli::percent_text(
                          static_cast<double>(r.job->user_cpu() + r.job->system_cpu()) / 1e6,
                          static_cast<double>(cpu_time(r).count()))
                    : std::string();
       }},
      {"AveCPU",
       10,
       "of a step: TotalCPU divided by the number of its tasks",
       {kUser, kSystem, A::kTasksFieldNumber},
       [](R r) {
         return r.step ? cpu_text((r.job->user_cpu() + r.job->system_cpu()) / tasks_of(r))
                       : std::string();
       }},
      {"AveRSS",
       10,
       "of a step: the most memory of its tasks on average",
       {A::kTasksFieldNumber},
       [](R r) {
         return r.step ? measured_memory_text(r.step->sum_rss() / tasks_of(r), r.units)
                       : std::string();
       }},
      {"MaxRSS",
       10,
       "most memory it used on one node; of a step, that one task used",
       {kRss},
       [](R r) { return measured_memory_text(r.job->max_rss(), r.units); }},
      {"MaxRSSNode",
       10,
       "on which node",
       {A::kMaxRssNodeFieldNumber},
       [](R r) { return printable(r.job->max_rss_node()); }},
      {"MaxDiskRead",
       11,
       "most it read from storage on one node",
       {A::kMaxDiskReadFieldNumber},
       [](R r) { return measured_memory_text(r.job->max_disk_read(), r.units); }},
      {"MaxDiskReadNode",
       15,
       "on which node",
       {A::kMaxDiskReadNodeFieldNumber},
       [](R r) { return printable(r.job->max_disk_read_node()); }},
      {"MaxDiskWriteNode",
       16,
       "node of MaxDiskWrite",
       {A::kMaxDiskWrittenNodeFieldNumber},
       [](R r) { return printable(r.job->max_disk_written_node()); }},
      {"MaxDiskWrite",
       12,
       "most it wrote to storage on one node",
       {A::kMaxDiskWrittenFieldNumber},
       [](R r) { return measured_memory_text(r.job->max_disk_written(), r.units); }},
      {"DiskRead",
       10,
       "what it read from storage, on all nodes",
       {A::kDiskReadFieldNumber},
       [](R r) { return measured_memory_text(r.job->disk_read(), r.units); }},
      {"DiskWrite",
       10,
       "what it wrote to storage, on all nodes",
       {A::kDiskWrittenFieldNumber},
       [](R r) { return measured_memory_text(r.job->disk_written(), r.units); }},
      {"AveDiskRead",
       11,
       "DiskRead divided by the number of tasks",
       {A::kDiskReadFieldNumber, A::kTasksFieldNumber},
       [](R r) { return measured_memory_text(r.job->disk_read() / tasks_of(r), r.units); }},
      {"AveDiskWrite",
       12,
       "DiskWrite divided by the number of tasks",
       {A::kDiskWrittenFieldNumber, A::kTasksFieldNumber},
       [](R r) { return measured_memory_text(r.job->disk_written() / tasks_of(r), r.units); }},
      {"MemEff",
       7,
       "MaxRSS of the memory it had a node, of what has ended",
       {kRss, kAlloc, kNodes, kEnded},
       [](R r) {
         return r.job->ended()
                    ? cli::percent_text(static_cast<double>(r.job->max_rss()) / (1 << 20),
                                        megabytes_a_node(r))
                    : std::string();
       }},
  };
}

}  // namespace

std::vector<Field> usage_fields() {
  std::vector<Field> all = plain_fields();
  std::vector<Field> combined = combined_fields();
  std::move(combined.begin(), combined.end(), std::back_inserter(all));
  return all;
}

}  // namespace ares::aacct
