#include "core/sched/queue/accruals.h"

namespace ares::core::sched {

bool Accruals::may_count(const Job& job, Time moment) {
  if (!job.allocation || !job.spec) return false;
  return holds_resources(job.state) || (is_terminal(job.state) && job.ended && *job.ended > moment);
}

bool Accruals::counts(const Job& job, Time moment) {
  return may_count(job, moment) && job.allocation->at < moment;
}

void Accruals::fill(const ClusterState& state, Time moment) {
  attempts_.clear();
  state.jobs.for_each([&](const JobKey& key, const Job& job) {
    if (may_count(job, moment)) attempts_.emplace_hint(attempts_.end(), key, Cached{});
  });
}

bool Accruals::update(const ClusterState& before, const ClusterState& after, Time moment) {
  bool changed = false;
  CowMap<JobKey, Job>::diff(
      before.jobs, after.jobs, [&](const JobKey& key, const Job* was, const Job* is) {
        if (is && may_count(*is, moment))
          attempts_.insert_or_assign(key, Cached{});
        else
          attempts_.erase(key);
        const bool counted = was && counts(*was, moment), counting = is && counts(*is, moment);
        changed = changed || counted != counting ||
                  (counting &&
                   (was->allocation->fence != is->allocation->fence ||
                    was->allocation->nodes.size() != is->allocation->nodes.size() ||
                    was->allocation->suspended != is->allocation->suspended ||
                    was->allocation->suspension != is->allocation->suspension ||
                    was->spec->user != is->spec->user || was->spec->account != is->spec->account));
      });
  return changed;
}

void Accruals::move_on(const ClusterState& state, Time moment) {
  std::erase_if(attempts_, [&](const auto& attempt) {
    const Job* job = state.jobs.find(attempt.first);
    return !job || !may_count(*job, moment);
  });
}

}  // namespace ares::core::sched
