#include "core/job/dependency.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "core/state/indexes.h"

namespace ares::core {
namespace {

DependencyStatus status_of(DependencyStatus::Kind kind) {
  return DependencyStatus{kind, {}};
}

DependencyStatus outcome_of(DependencyKind kind, bool ended, bool succeeded, bool began) {
  const auto once_ended = [&](bool good) {
    return status_of(!ended ? DependencyStatus::waiting
                     : good ? DependencyStatus::met
                            : DependencyStatus::failed);
  };
  switch (kind) {
    case DependencyKind::after_any: return once_ended(true);
    case DependencyKind::after_ok:
    case DependencyKind::after_corr: return once_ended(succeeded);
    case DependencyKind::after_not_ok: return once_ended(!succeeded);
    case DependencyKind::after:
      return status_of(began || ended ? DependencyStatus::met : DependencyStatus::waiting);
    case DependencyKind::singleton: break;  // has no target
  }
  return {};
}

// When it started, or ended without a start.
std::optional<Time> began(const Job& job) {
  if (job.started) return job.started;
  return is_terminal(job.state) ? job.ended : std::nullopt;
}

// An array began when its last task began.
std::optional<Time> array_began(const ClusterState& state, const Job& array) {
  if (!array.array->waiting.empty()) return std::nullopt;
  std::optional<Time> last;
  bool all = true;
  state.jobs.for_each_from(JobKey{array.key.job, TaskIndex{0}},
                           [&](const JobKey& key, const Job& task) {
                             if (key.job != array.key.job || key.task.is_none()) return false;
                             const std::optional<Time> at = began(task);
                             all = at.has_value();
                             if (at) last = std::max(last.value_or(*at), *at);
                             return all;
                           });
  if (!all) return std::nullopt;
  return last ? last : began(array);  // none of its tasks ever ran
}

std::optional<Time> all_began(const ClusterState& state, const Job& job) {
  return job.array ? array_began(state, job) : began(job);
}

const Job* array_of(const ClusterState& state, JobId id) {
  const Job* array = state.jobs.find(JobKey{id, {}});
  return array && array->array ? array : nullptr;
}

DependencyStatus target_status(const ClusterState& state, const Dependency& d, const JobKey& key) {
  const Job* target = state.jobs.find(key);
  if (!target) {
    const Job* array = key.task.is_none() ? nullptr : array_of(state, key.job);
    if (array && array->array->waiting.contains(key.task.value)) return {};
    if (array && array->spec->array->contains(key.task.value)) {
      return outcome_of(d.kind, true, false,
                        false);  // cancelled with its array before it had a record
    }
    return status_of(DependencyStatus::met);  // no longer known: counts as met
  }
  std::optional<Time> since;
  if (d.kind == DependencyKind::after) since = all_began(state, *target);
  DependencyStatus s = outcome_of(d.kind, is_terminal(target->state),
                                  target->state == JobState::completed, since.has_value());
  if (s.kind == DependencyStatus::met && d.delay > Seconds{0} && since)
    s.not_before = *since + d.delay;
  return s;
}

}  // namespace

bool has_begun(const ClusterState& state, const JobKey& key) {
  const Job* job = state.jobs.find(key);
  return job && all_began(state, *job);
}

bool waits_task_by_task(const ClusterState& state, const Dependent& who, const Dependency& d) {
  return d.kind == DependencyKind::after_corr && d.target.task.is_none() && who.spec.array &&
         array_of(state, d.target.job);
}

DependencyStatus dependency_status(const ClusterState& state, const Dependent& who,
                                   const Dependency& d) {
  if (d.kind == DependencyKind::singleton) {
    const Job* first = first_of_name(state, who.spec);
    return status_of(first && first->key.job < who.key.job ? DependencyStatus::waiting
                                                           : DependencyStatus::met);
  }
  if (!waits_task_by_task(state, who, d)) return target_status(state, d, d.target);
  if (who.key.task.is_none()) return {};
  return target_status(state, d, JobKey{d.target.job, who.key.task});
}

std::optional<JobKey> first_waiting_for(const ClusterState& state, const std::vector<JobKey>& jobs,
                                        const JobKey& target) {
  const auto overlap = [](const JobKey& a, const JobKey& b) {
    return a.job == b.job && (a.task.is_none() || b.task.is_none() || a.task == b.task);
  };
  // Targets seen from an earlier job do not lead to `target`, or that job would have been returned.
  std::set<JobKey> seen;
  std::vector<JobKey> open;
  const auto look_at = [&](const Job& record) {
    for (const Dependency& d : record.waiting_for)
      if (d.kind != DependencyKind::singleton && seen.insert(d.target).second)
        open.push_back(d.target);
  };
  for (const JobKey& job : jobs) {
    if (seen.insert(job).second) open.push_back(job);
    while (!open.empty()) {
      const JobKey key = open.back();
      open.pop_back();
      if (overlap(key, target)) return job;
      const Job* record = state.jobs.find(key);
      const Job* whole = record ? record : state.jobs.find(JobKey{key.job, {}});
      if (whole) look_at(*whole);
      if (!record || !record->array) continue;
      state.jobs.for_each_from(JobKey{key.job, TaskIndex{0}},
                               [&](const JobKey& at, const Job& task) {
                                 if (at.job != key.job) return false;
                                 look_at(task);
                                 return true;
                               });
    }
  }
  return std::nullopt;
}

}  // namespace ares::core
