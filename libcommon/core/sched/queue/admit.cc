#include "core/sched/queue/admit.h"

#include <algorithm>
#include <limits>

#include "base/duration.h"
#include "core/accounts/limits/partition_bounds.h"
#include "core/accounts/membership.h"
#include "core/cluster/reservation_access.h"
#include "core/cluster/time_limit.h"
#include "core/sched/index/demand.h"
#include "core/state/timers.h"

namespace ares::core::sched {
namespace {

Admission refuse(Reason reason, std::string detail = {}) {
  return {PendingInfo{reason, std::move(detail), std::nullopt, {}}, std::nullopt};
}

Admission wait_until(Time time, std::string detail) {
  return {PendingInfo{Reason::begin_time, std::move(detail), time, {}}, time};
}

// The record of the whole array, which carries the throttle also for tasks with records of their
// own.
const Job* array_record(const ClusterState& state, const Job& job) {
  if (job.array) return &job;
  if (job.key.task.is_none()) return nullptr;
  const Job* array = state.jobs.find(JobKey{job.key.job, TaskIndex{}});
  return array && array->array ? array : nullptr;
}

struct AdmitContext {
  const ClusterState& state;
  Enforce enforce;
  LimitUse* use;  // null: use by other jobs is ignored
  const QueueEntry& entry;
  const ArrayStarts& starting;
  Time now;
};
using Check = std::optional<Admission> (*)(const AdmitContext&);

std::optional<Admission> check_begin(const AdmitContext& context) {
  const auto& begin = context.entry.job->spec->begin;
  if (!begin || *begin <= context.now) return std::nullopt;
  return wait_until(*begin, "not before the begin time asked for");
}

std::optional<Admission> check_delay(const AdmitContext& context) {
  const Job& job = *context.entry.job;
  if (job.not_before <= context.now) return std::nullopt;
  return wait_until(job.not_before, job.launch_failures == 0
                                        ? "not before the delay behind another job is over"
                                        : "launch failed " + std::to_string(job.launch_failures) +
                                              " times in a row; tried again later");
}

std::optional<Admission> check_deadline(const AdmitContext& context) {
  if (!deadline_is_lost(*context.entry.job, context.now)) return std::nullopt;
  return refuse(Reason::deadline, "it cannot be over by its deadline any more");
}

std::optional<Admission> check_partition(const AdmitContext& context) {
  const QueueEntry& entry = context.entry;
  if (!entry.partition)
    return refuse(
        Reason::invalid_partition,
        "partition " + entry.job->spec->partitions[entry.choice] + " does not exist any more");
  if (entry.partition->up) return std::nullopt;
  return refuse(Reason::partition_down, "partition " + entry.partition->name + " is down");
}

std::optional<Admission> check_account(const AdmitContext& context) {
  if (!context.entry.partition) return std::nullopt;
  const Partition& partition = *context.entry.partition;
  if (auto problem = ineligible(context.state.accounting, context.enforce, *context.entry.job->spec,
                                partition.name))
    return refuse(problem->reason, std::move(problem->text));
  std::string missing = missing_qos(context.state.accounting, context.enforce, partition);
  if (missing.empty()) return std::nullopt;
  return refuse(Reason::invalid_qos, std::move(missing));
}

std::optional<Admission> check_time_limit(const AdmitContext& context) {
  if (!context.entry.partition) return std::nullopt;
  const Partition& partition = *context.entry.partition;
  const auto limit = time_limit_of(*context.entry.job, partition);
  if (!partition.max_time || (limit && *limit <= *partition.max_time)) return std::nullopt;
  if (!bounds_of(context.state.accounting, *context.entry.job->spec, partition).max_time)
    return std::nullopt;
  return refuse(Reason::partition_time_limit,
                "time limit " + format_time_limit(limit) + " is above " +
                    format_time_limit(partition.max_time) + " of partition " + partition.name);
}

std::optional<Admission> check_limits(const AdmitContext& context) {
  if (!context.entry.partition || !context.use) return std::nullopt;
  const Job& job = *context.entry.job;
  const Partition& partition = *context.entry.partition;
  auto over =
      context.use->over(*job.spec, partition, limit_at(context.state, job, partition, context.now));
  if (!over) return std::nullopt;
  Admission refused = refuse(Reason::limit, std::move(over->text));
  refused.refused->limit = std::move(over->name);
  if (over->varies_with_time) refused.wake = context.now + kLimitRecheckPeriod;
  return refused;
}

std::optional<Admission> check_node_limit(const AdmitContext& context) {
  if (!context.entry.partition) return std::nullopt;
  const Partition& partition = *context.entry.partition;
  const JobSpec& spec = *context.entry.job->spec;
  const std::uint32_t nodes =
      std::max({spec.min_nodes, 1u, static_cast<std::uint32_t>(spec.required_nodes.size())});
  const PartitionBounds bounds = bounds_of(context.state.accounting, spec, partition);
  if (bounds.max_nodes && nodes > *bounds.max_nodes)
    return refuse(Reason::partition_node_limit, "needs " + std::to_string(nodes) +
                                                    " nodes, partition " + partition.name +
                                                    " allows " + std::to_string(*bounds.max_nodes));
  const std::uint32_t most = std::max(spec.max_nodes, nodes);
  if (spec.max_nodes == 0 || most >= bounds.min_nodes) return std::nullopt;
  return refuse(Reason::partition_node_limit,
                "asks for at most " + std::to_string(most) + " nodes, partition " + partition.name +
                    " wants at least " + std::to_string(partition.min_nodes));
}

// Whether one of the requested reservations is active and lasts long enough; otherwise when the
// next one begins.
std::optional<Admission> check_reservations(const AdmitContext& context) {
  const JobSpec& spec = *context.entry.job->spec;
  if (spec.reservations.empty() || !context.entry.partition) return std::nullopt;
  const auto limit =
      spec.time_min ? spec.time_min : time_limit_of(*context.entry.job, *context.entry.partition);
  const Seconds needed = limit.value_or(Seconds{1});
  const Seconds least = std::max(needed - kLateStartTolerance, Seconds{1});
  bool flexible = false, on = false;
  std::string why;
  Reason reason = Reason::reservation_deleted;
  std::optional<Time> next;
  for (const std::string& name : spec.reservations) {
    const Reservation* r = context.state.reservations.find(name);
    if (!r) {
      if (why.empty()) why = "reservation " + name + " does not exist any more";
      continue;
    }
    if (!may_use(*r, spec.uid, spec.account))
      return refuse(Reason::reservation,
                    "reservation " + name + " is not for the job's user any more");
    flexible = flexible || r->flexible;
    if (needed > r->end - r->start) {
      reason = Reason::reservation;
      why = "reservation " + name + " is shorter than the job's time limit";
      continue;
    }
    auto occurrence = occurrence_at(*r, context.now);
    if (occurrence && occurrence->start <= context.now) {
      on = on || occurrence->end - context.now >= least;
      reason = Reason::reservation;
      why = "reservation " + name + " is over before the job's time limit is";
      occurrence = occurrence_at(*r, occurrence->end);
    }
    if (occurrence) next = std::min(next.value_or(occurrence->start), occurrence->start);
  }
  if (flexible || on) return std::nullopt;
  if (!next) return refuse(reason, why);
  if (reason != Reason::reservation) why = "its reservation has not begun yet";
  return Admission{PendingInfo{Reason::reservation, why, next, {}}, next};
}

std::optional<Admission> check_throttle(const AdmitContext& context) {
  const Job& job = *context.entry.job;
  if (throttle_allowance(context.state, job, context.starting) > 0) return std::nullopt;
  return refuse(Reason::job_array_task_limit, "as many tasks of the array run as it allows");
}

// In the order in which reasons are reported.
constexpr Check kChecks[] = {
    check_begin,      check_delay,      check_deadline, check_partition,    check_account,
    check_time_limit, check_node_limit, check_limits,   check_reservations, check_throttle};

}  // namespace

std::optional<PendingInfo> blocked_by_record(const Job& job) {
  const auto because = [](Reason reason, std::string detail = {}) {
    return PendingInfo{reason, std::move(detail), std::nullopt, {}};
  };
  if (job.hold == Hold::admin) return because(Reason::job_held_admin);
  if (job.hold == Hold::special_exit)
    return because(Reason::job_held_user, "requeued in the state of a special exit");
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

std::uint32_t throttle_allowance(const ClusterState& state, const Job& job,
                                 const ArrayStarts& starting) {
  const Job* array = array_record(state, job);
  if (!array || array->array->throttle == 0) return std::numeric_limits<std::uint32_t>::max();
  const auto found = starting.find(job.key.job);
  const std::uint32_t busy = array->array->holding + (found == starting.end() ? 0 : found->second);
  return array->array->throttle > busy ? array->array->throttle - busy : 0;
}

bool is_static(const ClusterState& state, Enforce enforce, const Fairness& rules,
               const QueueEntry& entry) {
  const Job& job = *entry.job;
  const JobSpec& spec = *job.spec;
  if (waits_with_gang(job) || job.expedited || job.array || !job.key.task.is_none() ||
      job.not_before != Time{} || spec.begin || spec.deadline || spec.time_min ||
      !spec.licenses.empty() || spec.switches > 0 || spec.partitions.size() != 1 ||
      !spec.reservations.empty() || !spec.gpu_alternatives.empty())
    return false;
  // These checks read only the entry and the accounting records.
  static const ArrayStarts kNobody;
  const AdmitContext context{state, enforce, nullptr, entry, kNobody, Time{}};
  if (check_partition(context) || check_account(context) || check_time_limit(context) ||
      check_node_limit(context))
    return false;
  const Partition& partition = *entry.partition;
  if (has_shared_limits(state.accounting, enforce, spec, partition)) return false;
  static const Policy kAnyPolicy;
  // Not used here, because relative limits are shared ones.
  ClusterTotals cluster_totals(state, kAnyPolicy);
  return !over_limit(state.accounting, enforce,
                     {spec, partition, rules, time_limit_of(job, partition)}, cluster_totals);
}

Admission admit(const ClusterState& state, LimitUse& use, const QueueEntry& entry,
                const ArrayStarts& starting, Time now) {
  for (const Check check : kChecks)
    if (auto refused = check({state, use.enforce(), &use, entry, starting, now})) return *refused;
  return {};
}

std::vector<Admission> all_refusals(const ClusterState& state, LimitUse& use,
                                    const QueueEntry& entry, const ArrayStarts& starting,
                                    Time now) {
  std::vector<Admission> all;
  for (const Check check : kChecks)
    if (auto refused = check({state, use.enforce(), &use, entry, starting, now}))
      all.push_back(*std::move(refused));
  return all;
}

}  // namespace ares::core::sched
