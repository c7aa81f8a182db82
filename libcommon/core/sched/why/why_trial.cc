#include "core/sched/why/why_trial.h"

#include <algorithm>

#include "core/cluster/time_limit.h"
#include "core/job/checks/submit_checks.h"
#include "core/sched/queue/alternatives.h"

namespace ares::core::sched {

bool Trial::starts(const Turn& turn, const Job& job) {
  if (work_.exhausted() || turn.closed || turn.exhausted) return false;
  const QueueEntry entry{&job, turn.entry.partition, turn.entry.choice};
  if (!check_resources(policy_, *job.spec) || !check_times(*job.spec, now_)) return false;
  turn.use.forget_answers();  // about what was tried before
  if (admit(state_, turn.use, entry, turn.starting, now_).refused) return false;
  if (!turn.licenses.choose(*job.spec)) return false;
  shapes_.clear();
  const auto relaxed_at = relaxed_from(job);
  const Shape& shape = shapes_.of(entry, turn.index, relaxed_at && *relaxed_at <= now_);
  work_.spend(turn.index.members(*entry.partition).size());
  if (!shape.candidates.problem.empty()) return false;
  const auto limit = limit_at(state_, job, *entry.partition, now_);
  const auto starts_as = [&](const Shape& one) {
    if (fits(turn, one, limit)) return true;
    const auto& shortest = job.spec->time_min;
    return shortest && (!limit || *shortest < *limit) && fits(turn, one, shortest);
  };
  if (shape.alternatives.empty()) return starts_as(shape);
  return choose_now(
             *job.spec, now_, limit,
             [&](std::size_t i) { return starts_as(*shape.alternatives[i]); },
             [&](std::size_t i) {
               const Shape& one = *shape.alternatives[i];
               return earliest(one.demand, limit, one.nodes(), turn.index, turn.profile, work_);
             })
      .starts();
}

bool Trial::fits(const Turn& turn, const Shape& shape, std::optional<Seconds> limit) {
  const auto free = fit_on(shape.demand, shape.nodes(), turn.index, Against::free_now, work_);
  if (!free) return false;
  if (!has_planned_start(*free, turn.profile) && !reserved(shape.demand, *free, turn.index))
    return true;
  return fit_between(shape.demand, shape.nodes(), turn.index, turn.profile, now_,
                     Profile::end_of(now_, limit), work_, JoinShared::now)
      .has_value();
}

}  // namespace ares::core::sched
