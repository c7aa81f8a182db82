#include "cli/output/reasons.h"

#include <cstddef>
#include <iterator>

namespace ares::cli {
namespace {

constexpr ReasonMeaning kReasons[] = {
    {Reason::none, true, "waits, and the scheduler has not looked at it yet"},
    {Reason::priority, true, "waits its turn"},
    {Reason::resources, true, "is first in line and waits for resources"},
    {Reason::dependency, true, "waits for other jobs"},
    {Reason::dependency_never_satisfied, true,
     "waits for a job that did not end as required, so it will never start; cancel it, or submit "
     "it "
     "again"},
    {Reason::begin_time, true,
     "may not start yet: it was submitted with --begin, or waits after a failed launch"},
    {Reason::job_held_user, true, "is held by its user; \"actl release\" releases it"},
    {Reason::job_held_admin, true, "is held by an administrator; only operators can release it"},
    {Reason::job_array_task_limit, true,
     "waits because as many tasks of its array run as the array allows"},
    {Reason::partition_down, true, "waits because its partition is down"},
    {Reason::partition_time_limit, true, "asks for more time than its partition allows"},
    {Reason::partition_node_limit, true, "asks for more or fewer nodes than its partition allows"},
    {Reason::req_node_not_avail, true, "needs nodes that cannot be used now"},
    {Reason::bad_constraints, true, "requests resources that its partition never has"},
    {Reason::node_down, false, "ended because one of its nodes failed, was set down or was lost"},
    {Reason::non_zero_exit_code, false, "ended with an exit code other than 0"},
    {Reason::raised_signal, false, "ended by a signal"},
    {Reason::time_limit, false, "was ended at its time limit"},
    {Reason::out_of_memory, false, "was ended because it used more memory than it asked for"},
    {Reason::launch_failure, true, "could not be launched"},
    {Reason::requeued, true, "was requeued, and waits to run again"},
    {Reason::cancelled_dependency, false,
     "was cancelled because its dependency could never be met (--kill-on-invalid-dep)"},
    {Reason::max_requeues, true, "was held because it failed to start too often"},
    {Reason::invalid_partition, true, "is in a partition that no longer exists"},
    {Reason::licenses, true, "waits for licences"},
    {Reason::deadline, false, "was ended at its deadline, or cannot be over by then"},
    {Reason::reservation, true, "waits because of a reservation"},
    {Reason::reservation_deleted, true, "asks for a reservation that no longer exists"},
    {Reason::preempting, true, "waits for the resources of the jobs that it preempts"},
    {Reason::preempted, false, "was ended to make room for another job"},
    {Reason::waiting_for_gang, true,
     "waits for the other members of its gang, with which it starts"},
    {Reason::gang_member_lost, false,
     "was cancelled because its gang lost a member, and too few were left"},
    {Reason::gang_timeout, false,
     "was cancelled because its gang had not started within --gang-timeout"},
    {Reason::plugin, true, "is refused by a plugin of the scheduler"},
    {Reason::invalid_account, true,
     "waits because its account no longer exists, or its user may no longer use it"},
    {Reason::invalid_qos, true,
     "waits because its QOS no longer exists, or it may no longer use it"},
    {Reason::limit, true, "waits because of a limit of its account, its user or its QOS"},
};
static_assert(std::size(kReasons) == static_cast<std::size_t>(kLastReason) + 1);

constexpr StateMeaning kStates[] = {
    {JobState::pending, "waits; its reason says for what"},
    {JobState::configuring, "has its nodes, which prepare it; its script has not started"},
    {JobState::running, "runs"},
    {JobState::suspended, "has stopped, keeps its memory and GPUs, and has given its CPUs away"},
    {JobState::completing,
     "has ended, and something of it is left on a node; actl completing says where"},
    {JobState::completed, "ended with exit code 0"},
    {JobState::failed, "ended with another exit code or by a signal, or could not be launched"},
    {JobState::cancelled, "was cancelled, by its user, an operator, or as its reason says"},
    {JobState::timeout, "was ended at its time limit"},
    {JobState::node_fail, "ended because one of its nodes failed, and did not run again"},
    {JobState::preempted, "was ended to make room for another job, and did not run again"},
    {JobState::out_of_memory, "was ended because it used more memory than it asked for"},
    {JobState::boot_fail, "ended because its nodes did not start; Ares starts none for a job"},
    {JobState::deadline, "was ended at its deadline"},
};
static_assert(std::size(kStates) == static_cast<std::size_t>(JobState::deadline) + 1);

constexpr NodeStateMeaning kNodeStates[] = {
    {"IDLE", "no job is on it"},
    {"MIXED", "jobs are on it, and it has free CPUs"},
    {"ALLOCATED", "jobs have all its CPUs"},
    {"COMPLETING", "a job that has ended has something left on it"},
    {"RESERVED", "it is idle and kept for the jobs of a reservation"},
    {"MAINT", "it is kept for maintenance, by a reservation"},
    {"DRAINING", "no job starts on it, and jobs still run there"},
    {"DRAINED", "no job starts on it, and none is there; its reason says why"},
    {"FAILING", "an operator expects it to fail; no job starts on it, and jobs still run there"},
    {"FAIL", "the same, and no job is there"},
    {"DOWN", "it is out of service; its reason says why"},
    {"REBOOT_ISSUED", "it is rebooting"},
    {"UNKNOWN", "it has not registered since the controller knows it"},
};

}  // namespace

std::span<const ReasonMeaning> reason_meanings() {
  return kReasons;
}

std::string_view meaning_of_reason(std::string_view name) {
  for (const ReasonMeaning& row : kReasons)
    if (to_string(row.reason) == name) return row.text;
  return {};
}

std::span<const StateMeaning> state_meanings() {
  return kStates;
}

std::span<const NodeStateMeaning> node_state_meanings() {
  return kNodeStates;
}

}  // namespace ares::cli
