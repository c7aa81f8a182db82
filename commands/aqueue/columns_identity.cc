#include <charconv>

#include "aqueue/column_groups.h"

namespace ares::aqueue {
namespace {

constexpr std::uint32_t kTasks = J::kArrayTasksFieldNumber,
                        kThrottle = J::kArrayThrottleFieldNumber;
constexpr std::uint32_t kPriority = J::kPriorityFieldNumber;

std::int64_t by_priority(R r) {
  return (r.tier << 32) + std::int64_t{r.job.priority()};
}

std::int64_t job_number(R r) {
  return static_cast<std::int64_t>(r.job.key().job());
}

// Of the rest of an array: the first of its tasks that wait.
std::int64_t first_task(R r) {
  if (r.job.key().has_task()) return r.job.key().task();
  std::int64_t first = -1;
  const std::string& list = r.job.array_tasks();
  std::from_chars(list.data(), list.data() + list.size(), first);
  return first;
}

}  // namespace

ColumnGroup identity_columns() {
  return {
      {'i',
       "JobArrayID",
       "JOBID",
       "the job's id; of an array ID_TASK, or ID_[TASKS] while tasks wait",
       [](R r, Out o) { put_id(r.job, o, r.longest_list); },
       {kId, kTask, kTasks, kThrottle},
       job_number,
       true,
       1},
      {'A',
       "JobID",
       "JOBID",
       "the job's own number, also of an array's task",
       [](R r, Out o) { put_number(r.job.own_id(), o); },
       {J::kOwnIdFieldNumber},
       [](R r) { return static_cast<std::int64_t>(r.job.own_id()); },
       true},
      {'F',
       "ArrayJobID",
       "ARRAY_JOB_ID",
       "the array's id",
       [](R r, Out o) { put_number(r.job.key().job(), o); },
       {kId},
       job_number,
       true},
      {'K',
       "ArrayTaskID",
       "ARRAY_TASK_ID",
       "the task's index",
       [](R r, Out o) { put_tasks(r.job, o, r.longest_list); },
       {kTask, kTasks, kThrottle},
       first_task,
       true},
      {'j',
       "Name",
       "NAME",
       "the job's name",
       [](R r, Out o) { o += r.job.name(); },
       {J::kNameFieldNumber},
       nullptr,
       false,
       1},
      {'u',
       "UserName",
       "USER",
       "whose it is",
       [](R r, Out o) { o += r.job.user(); },
       {J::kUserFieldNumber},
       nullptr,
       false,
       3},
      {'U',
       "UserID",
       "UID",
       "the user's number",
       [](R r, Out o) { put_number(r.job.uid(), o); },
       {J::kUidFieldNumber},
       [](R r) { return std::int64_t{r.job.uid()}; }},
      {'G',
       "GroupID",
       "GROUP",
       "the group's number",
       [](R r, Out o) { put_number(r.job.spec().gid(), o); },
       {of_spec(S::kGidFieldNumber)},
       [](R r) { return std::int64_t{r.job.spec().gid()}; }},
      {'a',
       "Account",
       "ACCOUNT",
       "the account",
       [](R r, Out o) { put_text(r.job.account(), o); },
       {J::kAccountFieldNumber},
       nullptr,
       false,
       4},
      {'q',
       "QOS",
       "QOS",
       "the quality of service",
       [](R r, Out o) { put_text(r.job.qos(), o); },
       {J::kQosFieldNumber},
       nullptr,
       false,
       4},
      {'w',
       "WCKey",
       "WCKEY",
       "the wckey: what the work is for",
       [](R r, Out o) { put_text(r.job.spec().wckey(), o); },
       {of_spec(S::kWckeyFieldNumber)}},
      {'P',
       "Partition",
       "PARTITION",
       "the partition, or those asked for",
       [](R r, Out o) { o += r.job.partition(); },
       {J::kPartitionFieldNumber},
       nullptr,
       false,
       4},
      {'k',
       "Comment",
       "COMMENT",
       "the comment",
       [](R r, Out o) { put_text(r.job.spec().comment(), o); },
       {of_spec(S::kCommentFieldNumber)}},
      {0, "Cluster", "CLUSTER", "the cluster", [](R r, Out o) { o += r.cluster; }},
      {0, "BatchFlag", "BATCH_FLAG", "1: a batch script", [](R, Out o) { o += '1'; }},
  };
}

ColumnGroup state_columns() {
  ColumnGroup all = {
      {'t',
       "StateCompact",
       "ST",
       "the state's short code",
       [](R r, Out o) {
         o += r.job.state() == kSpecialExit ? kSpecialExitCode : short_code(state_of(r.job));
       },
       {kState},
       [](R r) { return static_cast<std::int64_t>(state_of(r.job)); }},
      {'T',
       "State",
       "STATE",
       "the state",
       [](R r, Out o) { o += r.job.state(); },
       {kState},
       [](R r) { return static_cast<std::int64_t>(state_of(r.job)); }},
      {'r',
       "Reason",
       "REASON",
       "why it waits or failed",
       [](R r, Out o) { o += r.job.reason(); },
       {kReason},
       nullptr,
       false,
       2},
      {'R',
       "ReasonList",
       "NODELIST(REASON)",
       "its nodes, or why it waits or failed; both if one of them does not answer",
       [](R r, Out o) { put_nodes_or_reason(r.job, o); },
       {kState, kReason, kNodeList},
       nullptr,
       false,
       2},
      {'Q',
       "PriorityLong",
       "PRIORITY",
       "its priority; 0: it is held",
       [](R r, Out o) { put_number(r.job.priority(), o); },
       {kPriority},
       by_priority},
      {'p',
       "Priority",
       "PRIORITY",
       "its priority as a fraction",
       [](R r, Out o) { put_fraction(r.job.priority(), o); },
       {kPriority},
       by_priority},
      {'y',
       "Nice",
       "NICE",
       "by how much its user lowered its priority",
       [](R r, Out o) { o += std::to_string(r.job.spec().nice()); },
       {of_spec(S::kNiceFieldNumber)},
       [](R r) { return std::int64_t{r.job.spec().nice()}; }},
      {'E',
       "Dependency",
       "DEPENDENCY",
       "the jobs it still waits for",
       [](R r, Out o) { put_dependencies(r.job, o); },
       {J::kWaitingForFieldNumber}},
      {0,
       "exit_code",
       "EXIT_CODE",
       "exit code and signal of the script",
       [](R r, Out o) {
         o += std::to_string(r.job.exit_code()) + ":" + std::to_string(r.job.exit_signal());
       },
       {J::kExitCodeFieldNumber, J::kExitSignalFieldNumber}},
      {0,
       "RestartCnt",
       "RESTART_COUNT",
       "how often it was started again",
       [](R r, Out o) { put_number(r.job.restarts(), o); },
       {J::kRestartsFieldNumber},
       [](R r) { return std::int64_t{r.job.restarts()}; }},
      {0,
       "Requeue",
       "REQUEUE",
       "1: it may be started again",
       [](R r, Out o) { o += r.job.spec().requeue() ? '1' : '0'; },
       {of_spec(S::kRequeueFieldNumber)}},
  };
  for (auto& column : all) column.is_state = column.header == "ST" || column.header == "STATE";
  return all;
}

}  // namespace ares::aqueue
