#include "core/sched/admit.h"

#include <algorithm>
#include <limits>

#include "base/duration.h"
#include "core/sched/demand.h"

namespace ares::core::sched {
namespace {

Admission refuse(Reason reason, std::string detail = {}) {
  return {PendingInfo{reason, std::move(detail), std::nullopt, {}}, std::nullopt};
}

Admission wait_until(Time time, std::string detail) {
  return {PendingInfo{Reason::begin_time, std::move(detail), time, {}}, time};
}

// The array's own record: what the throttle counts on, for tasks with records of their own as well.
const Job* array_record(const ClusterState& state, const Job& job) {
  if (job.array) return &job;
  if (job.key.task.is_none()) return nullptr;
  const Job* array = state.jobs.find(JobKey{job.key.job, TaskIndex{}});
  return array && array->array ? array : nullptr;
}

std::optional<Admission> check_partition(const QueueEntry& entry) {
  const Job& job = *entry.job;
  if (!entry.partition)
    return refuse(Reason::invalid_partition,
                  "partition " + job.spec->partitions[entry.choice] + " does not exist any more");
  const Partition& partition = *entry.partition;
  if (!partition.up)
    return refuse(Reason::partition_down, "partition " + partition.name + " is down");

  const auto limit = time_limit_of(job, partition);
  if (partition.max_time && (!limit || *limit > *partition.max_time))
    return refuse(Reason::partition_time_limit,
                  "time limit " + format_time_limit(limit) + " is above " +
                      format_time_limit(partition.max_time) + " of partition " + partition.name);
  const std::uint32_t nodes = std::max(
      {job.spec->min_nodes, 1u, static_cast<std::uint32_t>(job.spec->required_nodes.size())});
  if (partition.max_nodes && nodes > *partition.max_nodes)
    return refuse(Reason::partition_node_limit,
                  "needs " + std::to_string(nodes) + " nodes, partition " + partition.name +
                      " allows " + std::to_string(*partition.max_nodes));
  const std::uint32_t most = std::max(job.spec->max_nodes, nodes);
  if (job.spec->max_nodes > 0 && most < partition.min_nodes)
    return refuse(Reason::partition_node_limit,
                  "asks for at most " + std::to_string(most) + " nodes, partition " +
                      partition.name + " wants at least " + std::to_string(partition.min_nodes));
  return std::nullopt;
}

// Whether one of the reservations it asked for is on and lasts long enough; else when the next of them begins.
std::optional<Admission> check_reservations(const ClusterState& state, const QueueEntry& entry,
                                            Time now) {
  const JobSpec& spec = *entry.job->spec;
  std::string unusable;
  Reason reason = Reason::reservation_deleted;
  std::optional<Time> next;
  const auto needed = spec.time_min ? spec.time_min : time_limit_of(*entry.job, *entry.partition);
  for (const std::string& name : spec.reservations) {
    const Reservation* r = state.reservations.find(name);
    if (!r) {
      if (unusable.empty()) unusable = "reservation " + name + " does not exist any more";
      continue;
    }
    if (!may_use(*r, spec.uid, spec.account)) {
      unusable = "reservation " + name + " is not for the job's user any more";
      reason = Reason::reservation;
      continue;
    }
    if (r->flexible) return std::nullopt;
    auto occurrence = occurrence_at(*r, now);
    const Seconds least = std::max(needed.value_or(Seconds{1}), Seconds{1});
    if (occurrence && occurrence->start <= now) {
      if (occurrence->end - now >= least) return std::nullopt;
      unusable = "reservation " + name + " is over before the job's time limit is";
      reason = Reason::reservation;
      occurrence = occurrence_at(*r, occurrence->end);
    }
    if (occurrence) next = std::min(next.value_or(occurrence->start), occurrence->start);
  }
  if (!next) return refuse(reason, unusable);
  PendingInfo waits{Reason::reservation, "its reservation has not begun yet", next, {}};
  return Admission{std::move(waits), next};
}

}  // namespace

std::optional<PendingInfo> kept_back(const Job& job) {
  const auto because = [](Reason reason, std::string detail = {}) {
    return PendingInfo{reason, std::move(detail), std::nullopt, {}};
  };
  if (job.hold == Hold::admin) return because(Reason::job_held_admin);
  if (job.hold == Hold::user) return because(Reason::job_held_user);
  if (job.dependency_failed)
    return because(Reason::dependency_never_satisfied, "a job it depends on ended otherwise");
  if (!job.waiting_for.empty())
    return because(Reason::dependency,
                   std::string("waits for ") + (job.spec->any_dependency ? "one of " : "") +
                       std::to_string(job.waiting_for.size()) +
                       (job.waiting_for.size() == 1 ? " other job" : " other jobs"));
  return std::nullopt;
}

std::uint32_t throttle_room(const ClusterState& state, const Job& job,
                            const ArrayStarts& starting) {
  const Job* array = array_record(state, job);
  if (!array || array->array->throttle == 0) return std::numeric_limits<std::uint32_t>::max();
  const auto found = starting.find(job.key.job);
  const std::uint32_t busy = array->array->holding + (found == starting.end() ? 0 : found->second);
  return array->array->throttle > busy ? array->array->throttle - busy : 0;
}

Admission admit(const ClusterState& state, const QueueEntry& entry, const ArrayStarts& starting,
                Time now) {
  const Job& job = *entry.job;
  if (job.spec->begin && *job.spec->begin > now)
    return wait_until(*job.spec->begin, "not before the begin time asked for");
  if (job.not_before > now)
    return wait_until(job.not_before, job.launch_failures == 0
                                          ? "not before the delay behind another job is over"
                                          : "launch failed " + std::to_string(job.launch_failures) +
                                                " times in a row; tried again later");
  if (deadline_is_lost(job, now))
    return refuse(Reason::deadline, "it cannot be over by its deadline any more");
  if (auto refused = check_partition(entry)) return *refused;
  if (!job.spec->reservations.empty())
    if (auto refused = check_reservations(state, entry, now)) return *refused;
  if (throttle_room(state, job, starting) == 0)
    return refuse(Reason::job_array_task_limit, "as many tasks of the array run as it allows");
  return {};
}

}  // namespace ares::core::sched
