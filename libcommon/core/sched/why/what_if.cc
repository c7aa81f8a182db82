#include "core/sched/why/what_if.h"

#include <algorithm>

#include "core/cluster/time_limit.h"
#include "core/job/checks/submit_checks.h"
#include "core/sched/queue/alternatives.h"

namespace ares::core::sched {

bool WhatIf::starts(const PassView& view, const Job& job) {
  if (work_.exhausted() || view.closed || view.exhausted) return false;
  const QueueEntry entry{&job, view.entry.partition, view.entry.choice};
  if (!check_resources(policy_, *job.spec) || !check_times(*job.spec, now_)) return false;
  // Refusals cached for other specifications may no longer apply.
  view.use.clear_refusals();
  if (admit(state_, view.use, entry, view.starting, now_).refused) return false;
  if (!view.licenses.choose(*job.spec)) return false;
  job_classes_.clear();
  const auto relaxed_at = relaxed_from(job);
  const JobClass& job_class = job_classes_.of(entry, view.index, relaxed_at && *relaxed_at <= now_);
  work_.spend(view.index.members(*entry.partition).size());
  if (!job_class.candidates.problem.empty()) return false;
  const auto limit = limit_at(state_, job, *entry.partition, now_);
  const auto starts_as = [&](const JobClass& one) {
    if (fits(view, one, limit)) return true;
    const auto& shortest = job.spec->time_min;
    return shortest && (!limit || *shortest < *limit) && fits(view, one, shortest);
  };
  if (job_class.alternatives.empty()) return starts_as(job_class);
  return choose_alternative(
             *job.spec, now_, limit,
             [&](std::size_t i) { return starts_as(*job_class.alternatives[i]); },
             [&](std::size_t i) {
               const JobClass& one = *job_class.alternatives[i];
               return find_earliest_start(one.demand, limit, one.nodes(), view.index, view.profile,
                                          work_);
             })
      .starts();
}

bool WhatIf::fits(const PassView& view, const JobClass& job_class, std::optional<Seconds> limit) {
  const auto free =
      fit_on(job_class.demand, job_class.nodes(), view.index, CapacityBasis::free_now, work_);
  if (!free) return false;
  if (!has_planned_start(*free, view.profile) &&
      !affected_by_reservations(job_class.demand, *free, view.index))
    return true;
  return fit_between(job_class.demand, job_class.nodes(), view.index, view.profile, now_,
                     Profile::end_of(now_, limit), work_, JoinShared::now)
      .has_value();
}

}  // namespace ares::core::sched
