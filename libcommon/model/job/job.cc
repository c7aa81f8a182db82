#include "model/job/job.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace ares {
namespace {

struct StateName {
  JobState state;
  std::string_view name, code;
};

constexpr StateName kStates[] = {
    {JobState::pending, "PENDING", "PD"},       {JobState::configuring, "CONFIGURING", "CF"},
    {JobState::running, "RUNNING", "R"},        {JobState::suspended, "SUSPENDED", "S"},
    {JobState::completing, "COMPLETING", "CG"}, {JobState::completed, "COMPLETED", "CD"},
    {JobState::failed, "FAILED", "F"},          {JobState::cancelled, "CANCELLED", "CA"},
    {JobState::timeout, "TIMEOUT", "TO"},       {JobState::node_fail, "NODE_FAIL", "NF"},
    {JobState::preempted, "PREEMPTED", "PR"},   {JobState::out_of_memory, "OUT_OF_MEMORY", "OOM"},
    {JobState::boot_fail, "BOOT_FAIL", "BF"},   {JobState::deadline, "DEADLINE", "DL"},
};

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::toupper(x) == std::toupper(y);
  });
}

}  // namespace

std::string_view to_string(JobState s) {
  return kStates[static_cast<std::size_t>(s)].name;
}

std::string_view short_code(JobState s) {
  return kStates[static_cast<std::size_t>(s)].code;
}

std::optional<JobState> parse_job_state(std::string_view name_or_code) {
  for (const StateName& row : kStates)
    if (row.name == name_or_code) return row.state;  // fast path: programs write the exact name
  for (const StateName& row : kStates) {
    if (same_ignoring_case(row.name, name_or_code) || same_ignoring_case(row.code, name_or_code)) {
      return row.state;
    }
  }
  for (const std::string_view name : {kSpecialExit, kSpecialExitCode})
    if (same_ignoring_case(name, name_or_code)) return JobState::pending;
  return std::nullopt;
}

std::string_view to_string(Reason r) {
  switch (r) {
    case Reason::none: return "None";
    case Reason::priority: return "Priority";
    case Reason::resources: return "Resources";
    case Reason::dependency: return "Dependency";
    case Reason::dependency_never_satisfied: return "DependencyNeverSatisfied";
    case Reason::begin_time: return "BeginTime";
    case Reason::job_held_user: return "JobHeldUser";
    case Reason::job_held_admin: return "JobHeldAdmin";
    case Reason::job_array_task_limit: return "JobArrayTaskLimit";
    case Reason::partition_down: return "PartitionDown";
    case Reason::partition_time_limit: return "PartitionTimeLimit";
    case Reason::partition_node_limit: return "PartitionNodeLimit";
    case Reason::req_node_not_avail: return "ReqNodeNotAvail";
    case Reason::bad_constraints: return "BadConstraints";
    case Reason::node_down: return "NodeDown";
    case Reason::non_zero_exit_code: return "NonZeroExitCode";
    case Reason::raised_signal: return "RaisedSignal";
    case Reason::time_limit: return "TimeLimit";
    case Reason::out_of_memory: return "OutOfMemory";
    case Reason::launch_failure: return "JobLaunchFailure";
    case Reason::requeued: return "Requeued";
    case Reason::cancelled_dependency: return "DependencyCancelled";
    case Reason::max_requeues: return "JobHoldMaxRequeue";
    case Reason::invalid_partition: return "InvalidPartition";
    case Reason::licenses: return "Licenses";
    case Reason::deadline: return "DeadLine";
    case Reason::reservation: return "Reservation";
    case Reason::reservation_deleted: return "ReservationDeleted";
    case Reason::preempting: return "Preempting";
    case Reason::preempted: return "Preempted";
    case Reason::waiting_for_gang: return "WaitingForGang";
    case Reason::gang_member_lost: return "GangMemberLost";
    case Reason::gang_timeout: return "GangTimeout";
    case Reason::plugin: return "Plugin";
    case Reason::invalid_account: return "InvalidAccount";
    case Reason::invalid_qos: return "InvalidQOS";
    case Reason::limit: return "AccountingPolicy";
  }
  return "None";
}

bool operator==(const Job& a, const Job& b) {
  const auto fields = [](const Job& j) {
    return std::tie(j.key, j.own_id, j.state, j.reason, j.hold, j.priority, j.priority_set,
                    j.time_limit, j.waiting_for, j.dependency_failed, j.array_rank, j.submitted,
                    j.eligible, j.started, j.ended, j.attempt, j.restarts, j.launch_failures,
                    j.cause, j.not_before, j.excluded, j.allocation, j.ending, j.exit, j.array,
                    j.version, j.time_noticed, j.preemption_claim, j.preempted, j.gang, j.gang_lost,
                    j.accrues, j.expedited, j.expedited_returns, j.checkpoints, j.restored);
  };
  const bool same_spec = a.spec == b.spec || (a.spec && b.spec && *a.spec == *b.spec);
  return same_spec && fields(a) == fields(b);
}

}  // namespace ares
