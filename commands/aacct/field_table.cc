#include "aacct/fields.h"

#include <algorithm>

#include "aacct/step_lines.h"
#include "base/duration.h"
#include "base/printable.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/values/step_ids.h"

namespace ares::aacct {
namespace {

using A = api::AccountingRow;
using R = const Row&;

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string text(const std::string& value) {
  return printable(value);
}

// For a job that never ran, the number of requested nodes.
std::int64_t nodes_of(R r) {
  return r.job->node_count() ? r.job->node_count() : tres_amount(r.job->requested_tres(), "node");
}

std::string seconds(Seconds length) {
  return std::to_string(length.count());
}

// The time limit multiplied by the allocated or requested CPUs.
Seconds planned_cpu(R r) {
  const std::int64_t cpus =
      r.job->cpus() ? r.job->cpus() : tres_amount(r.job->requested_tres(), "cpu");
  return planned(*r.job, r.now) * cpus;
}

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

const int kCpu = A::kCpusFieldNumber, kStarted = A::kStartedFieldNumber,
          kEnded = A::kEndedFieldNumber, kAlloc = A::kAllocatedTresFieldNumber,
          kReq = A::kRequestedTresFieldNumber, kEligible = A::kEligibleFieldNumber,
          kUser = A::kUserCpuFieldNumber, kSystem = A::kSystemCpuFieldNumber,
          kLimit = A::kTimeLimitFieldNumber, kNodes = A::kNodeCountFieldNumber,
          kRss = A::kMaxRssFieldNumber, kDir = A::kWorkDirFieldNumber,
          kArray = A::kArraySpecFieldNumber, kStill = A::kSuspendedFieldNumber,
          kStillSince = A::kSuspendedAtFieldNumber;

// ".0" on the line of a step.
std::string step_suffix(R r) {
  return r.step ? "." + cli::format_step(r.step->number()) : std::string();
}

std::vector<Field> identity_fields() {
  return {
      {"Account",
       10,
       "account",
       {A::kAccountFieldNumber},
       [](R r) { return text(r.job->account()); }},
      {"Attempt",
       8,
       "number of this attempt; 0 = it was never given nodes",
       {A::kAttemptFieldNumber},
       [](R r) { return number(r.job->attempt()); }},
      {"Cluster", 10, "name of the cluster", {}, [](R r) { return *r.cluster; }},
      {"Comment",
       14,
       "the user's comment",
       {A::kCommentFieldNumber},
       [](R r) { return text(r.job->comment()); }},
      {"GID",
       6,
       "the group's number",
       {A::kGidFieldNumber},
       [](R r) { return number(r.job->gid()); }},
      {"Group",
       9,
       "name of the group",
       {A::kGroupFieldNumber},
       [](R r) { return text(r.job->group()); }},
      {"JobID",
       -12,
       "id of the job; of an array's task ID_TASK",
       {A::kArrayTasksFieldNumber},
       [](R r) { return id_text(*r.job, r.longest_list) + step_suffix(r); },
       true},
      {"JobIDRaw",
       -12,
       "the job's own number, also of an array's task",
       {A::kOwnIdFieldNumber},
       [](R r) { return number(r.job->own_id()) + step_suffix(r); },
       true},
      {"JobName", 10, "name", {A::kNameFieldNumber}, [](R r) { return text(r.job->name()); }},
      {"Partition",
       10,
       "partition it ran in",
       {A::kPartitionFieldNumber},
       [](R r) { return text(r.job->partition()); }},
      {"QOS",
       10,
       "quality of service",
       {A::kQosFieldNumber},
       [](R r) { return text(r.job->qos()); }},
      {"WCKey",
       10,
       "what the work was for",
       {A::kWckeyFieldNumber},
       [](R r) { return text(r.job->wckey()); }},
      {"SubmitHost",
       15,
       "machine it was submitted from",
       {A::kSubmitHostFieldNumber},
       [](R r) { return text(r.job->submit_host()); }},
      {"SubmitLine",
       20,
       "the command line that submitted it, quoted as a shell reads it, at most 4096 bytes",
       {A::kSubmitLineFieldNumber},
       [](R r) { return text(r.job->submit_line()); }},
      {"UID",
       6,
       "the user's number",
       {A::kUidFieldNumber},
       [](R r) { return number(r.job->uid()); }},
      {"User", 9, "whose it is", {A::kUserFieldNumber}, [](R r) { return text(r.job->user()); }},
      {"WorkDir", 20, "folder it ran in", {kDir}, [](R r) { return text(r.job->work_dir()); }},
      {"StdErr",
       20,
       "where standard error goes, as a pattern",
       {A::kStdErrFieldNumber, A::kStdOutFieldNumber, kDir, kArray},
       [](R r) { return text(path_text(*r.job, Stream::err)); }},
      {"StdIn",
       20,
       "where standard input comes from, as a pattern",
       {A::kStdInFieldNumber, kDir},
       [](R r) { return text(path_text(*r.job, Stream::in)); }},
      {"StdOut",
       20,
       "where standard output goes, as a pattern",
       {A::kStdOutFieldNumber, kDir, kArray},
       [](R r) { return text(path_text(*r.job, Stream::out)); }},
  };
}

std::vector<Field> outcome_fields() {
  return {
      {"State",
       10,
       "state; of a cancelled job with the uid of who cancelled it",
       {A::kStateFieldNumber, A::kCancelledByFieldNumber},
       [](R r) { return state_text(*r.job); },
       false,
       true},
      {"Reason",
       22,
       "why it waits, or why it ended",
       {A::kReasonFieldNumber},
       [](R r) { return text(r.job->reason()); }},
      {"Cause",
       20,
       "what went wrong on a node, in words",
       {A::kCauseFieldNumber},
       [](R r) { return text(r.job->cause()); }},
      {"ExitCode",
       8,
       "exit code of the script and the signal that ended it",
       {A::kExitCodeFieldNumber, A::kExitSignalFieldNumber},
       [](R r) {
         return std::to_string(r.job->exit_code()) + ":" + std::to_string(r.job->exit_signal());
       }},
      {"DerivedExitCode",
       15,
       "the highest ExitCode of its steps, without the script's",
       {A::kStepsFieldNumber},
       [](R r) { return derived_exit_code(*r.job); }},
      {"Priority",
       10,
       "priority when it was given nodes",
       {A::kPriorityFieldNumber},
       [](R r) { return number(r.job->priority()); }},
      {"Restarts",
       8,
       "how often it was started again",
       {A::kRestartsFieldNumber},
       [](R r) { return number(r.job->restarts()); }},
  };
}

std::vector<Field> time_fields() {
  return {
      {"Submit",
       19,
       "when it was submitted",
       {A::kSubmittedFieldNumber},
       [](R r) { return time_text(r.job->submitted()); }},
      {"Eligible",
       19,
       "since when it could have run",
       {kEligible},
       [](R r) { return time_text(r.job->eligible()); }},
      {"Start",
       19,
       "when its script was started",
       {kStarted, kEnded},
       [](R r) { return time_text(r.job->started(), r.job->ended() ? "None" : "Unknown"); }},
      {"End", 19, "when it ended", {kEnded}, [](R r) { return time_text(r.job->ended()); }},
      {"Elapsed",
       10,
       "from start to end, without what it was suspended",
       {kStarted, kEnded, kStill, kStillSince},
       [](R r) { return format_duration(elapsed(*r.job, r.now)); }},
      {"ElapsedRaw",
       10,
       "the same in seconds",
       {kStarted, kEnded, kStill, kStillSince},
       [](R r) { return seconds(elapsed(*r.job, r.now)); }},
      {"Planned",
       10,
       "how long it waited though it could have run",
       {kEligible, kStarted, kEnded},
       [](R r) {
         return r.job->eligible() ? format_duration(planned(*r.job, r.now))
                                  : std::string("Unknown");
       }},
      {"PlannedCPU",
       10,
       "Planned times CPUs",
       {kEligible, kStarted, kEnded, kCpu, kReq},
       [](R r) { return format_duration(planned_cpu(r)); }},
      {"PlannedCPURAW",
       13,
       "the same in seconds",
       {kEligible, kStarted, kEnded, kCpu, kReq},
       [](R r) { return seconds(planned_cpu(r)); }},
      {"Suspended",
       10,
       "for how long it was suspended",
       {kEnded, kStill, kStillSince},
       [](R r) { return format_duration(suspended(*r.job, r.now)); }},
      {"Timelimit", 10, "its time limit", {kLimit}, [](R r) { return time_limit_text(*r.job); }},
      {"TimelimitRaw",
       12,
       "the same in minutes",
       {kLimit},
       [](R r) { return time_limit_minutes(*r.job); }},
  };
}

std::vector<Field> resource_fields() {
  return {
      {"AllocCPUS", 10, "CPUs it had", {kCpu}, [](R r) { return number(r.job->cpus()); }},
      {"NCPUS", 10, "the same", {kCpu}, [](R r) { return number(r.job->cpus()); }},
      {"ReqCPUS",
       8,
       "CPUs it asked for",
       {kReq},
       [](R r) { return std::to_string(tres_amount(r.job->requested_tres(), "cpu")); }},
      {"AllocNodes", 10, "nodes it had", {kNodes}, [](R r) { return number(r.job->node_count()); }},
      {"NNodes",
       8,
       "the same; of a job that never ran the nodes it asked for",
       {kNodes, kReq},
       [](R r) { return std::to_string(nodes_of(r)); }},
      {"ReqNodes",
       8,
       "nodes it asked for",
       {kReq},
       [](R r) { return std::to_string(tres_amount(r.job->requested_tres(), "node")); }},
      {"NodeList",
       15,
       "names of the nodes",
       {A::kNodeListFieldNumber},
       [](R r) { return r.job->node_list().empty() ? "None assigned" : r.job->node_list(); }},
      {"NTasks",
       8,
       "tasks it asked for; of a step those it had",
       {A::kTasksFieldNumber},
       [](R r) { return number(r.job->tasks()); }},
      {"AllocGPUS",
       9,
       "GPUs it had",
       {kAlloc},
       [](R r) { return tres_word(r.job->allocated_tres(), "gres/gpu"); }},
      {"ReqGPUS",
       8,
       "GPUs it asked for",
       {kReq},
       [](R r) { return tres_word(r.job->requested_tres(), "gres/gpu"); }},
      {"AllocTRES",
       10,
       "all resources it had",
       {kAlloc},
       [](R r) { return tres_text(r.job->allocated_tres(), r.units); }},
      {"ReqTRES",
       10,
       "all resources it asked for",
       {kReq},
       [](R r) { return tres_text(r.job->requested_tres(), r.units); }},
      {"ReqMem",
       10,
       "memory it asked for",
       {kReq},
       [](R r) { return memory_text(tres_amount(r.job->requested_tres(), "mem"), r.units); }},
      {"Constraints",
       18,
       "features it asked for",
       {A::kConstraintsFieldNumber},
       [](R r) { return text(r.job->constraints()); }},
      {"Exclusive",
       9,
       "whether it had its nodes alone",
       {A::kExclusiveFieldNumber},
       [](R r) { return std::string(r.job->exclusive() ? "YES" : "NO"); }},
      {"Licenses",
       10,
       "licences it asked for",
       {A::kLicensesFieldNumber},
       [](R r) { return text(r.job->licenses()); }},
  };
}

std::int64_t tasks_of(R r) {
  return std::max<std::int64_t>(1, r.job->tasks());
}

std::vector<Field> usage_fields() {
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
       [](R r) { return seconds(cpu_time(r)); }},
      {"GPUTime",
       10,
       "Elapsed times GPUs, which it keeps while it is suspended",
       {kStarted, kEnded, kAlloc, kStill, kStillSince},
       [](R r) { return format_duration(gpu_time(r)); }},
      {"GPUTimeRAW",
       10,
       "the same in seconds",
       {kStarted, kEnded, kAlloc, kStill, kStillSince},
       [](R r) { return seconds(gpu_time(r)); }},
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
       [](R r) { return text(r.job->max_rss_node()); }},
      {"MaxDiskRead",
       11,
       "most it read from storage on one node",
       {A::kMaxDiskReadFieldNumber},
       [](R r) { return measured_memory_text(r.job->max_disk_read(), r.units); }},
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

const std::vector<Field>& fields() {
  static const std::vector<Field> all = [] {
    std::vector<Field> list;
    for (auto* part : {identity_fields, outcome_fields, time_fields, resource_fields, usage_fields})
      for (Field& field : part()) list.push_back(std::move(field));
    std::sort(list.begin(), list.end(), [](const Field& a, const Field& b) {
      return cli::lower(a.name) < cli::lower(b.name);
    });
    return list;
  }();
  return all;
}

const std::vector<std::string>& unsupported_fields() {
  static const std::vector<std::string> all = {"AdminComment",
                                               "AssocID",
                                               "AveCPUFreq",
                                               "AvePages",
                                               "AveVMSize",
                                               "BlockID",
                                               "ConsumedEnergy",
                                               "ConsumedEnergyRaw",
                                               "Container",
                                               "DBIndex",
                                               "Extra",
                                               "FailedNode",
                                               "Flags",
                                               "Layout",
                                               "MaxDiskReadNode",
                                               "MaxDiskReadTask",
                                               "MaxDiskWriteNode",
                                               "MaxDiskWriteTask",
                                               "MaxPages",
                                               "MaxPagesNode",
                                               "MaxPagesTask",
                                               "MaxRSSTask",
                                               "MaxVMSize",
                                               "MaxVMSizeNode",
                                               "MaxVMSizeTask",
                                               "McsLabel",
                                               "MinCPU",
                                               "MinCPUNode",
                                               "MinCPUTask",
                                               "OriginalSLUID",
                                               "OverSubscribe",
                                               "QOSRAW",
                                               "QOSREQ",
                                               "ReqCPUFreq",
                                               "ReqCPUFreqGov",
                                               "ReqCPUFreqMax",
                                               "ReqCPUFreqMin",
                                               "Reservation",
                                               "ReservationId",
                                               "ReqReservation",
                                               "SegmentSize",
                                               "SLUID",
                                               "SystemComment",
                                               "TRESUsageInAve",
                                               "TRESUsageInMax",
                                               "TRESUsageInMaxNode",
                                               "TRESUsageInMaxTask",
                                               "TRESUsageInMin",
                                               "TRESUsageInMinNode",
                                               "TRESUsageInMinTask",
                                               "TRESUsageInTot",
                                               "TRESUsageOutAve",
                                               "TRESUsageOutMax",
                                               "TRESUsageOutMaxNode",
                                               "TRESUsageOutMaxTask",
                                               "TRESUsageOutMin",
                                               "TRESUsageOutMinNode",
                                               "TRESUsageOutMinTask",
                                               "TRESUsageOutTot",
                                               "WCKeyID"};
  return all;
}

}  // namespace ares::aacct
