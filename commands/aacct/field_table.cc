#include <algorithm>

#include "aacct/field_groups.h"
#include "aacct/step_lines.h"
#include "base/duration.h"
#include "base/printable.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/values/step_ids.h"

namespace ares::aacct {
namespace {

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
      {"Container",
       19,
       "image that it ran in, if it named one",
       {A::kContainerImageFieldNumber},
       [](R r) { return text(r.job->container_image()); }},
      {"Extra",
       19,
       "a text for other programs, as it was submitted",
       {A::kExtraFieldNumber},
       [](R r) { return text(r.job->extra()); }},
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
      {"OverSubscribe",
       13,
       "NO: it had its nodes alone; USER: shared them with jobs of its user; OK: with any",
       {A::kExclusiveFieldNumber, A::kExclusiveUserFieldNumber},
       [](R r) {
         return std::string(r.job->exclusive() ? "NO" : r.job->exclusive_user() ? "USER" : "OK");
       }},
      {"Reservation",
       20,
       "reservations that it could use while it had nodes",
       {A::kReservationsFieldNumber, kNodes},
       [](R r) { return r.job->node_count() ? text(r.job->reservations()) : std::string(); }},
      {"ReqReservation",
       20,
       "reservations it asked for, any of which would do",
       {A::kReservationsFieldNumber},
       [](R r) { return text(r.job->reservations()); }},
      {"SegmentSize",
       11,
       "nodes in each group that lies within one block or switch; 0: it did not matter",
       {A::kSegmentFieldNumber},
       [](R r) { return number(r.job->segment()); }},
      {"Licenses",
       10,
       "licences it asked for",
       {A::kLicensesFieldNumber},
       [](R r) { return text(r.job->licenses()); }},
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

}  // namespace ares::aacct
