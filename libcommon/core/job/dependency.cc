// Where a dependency stands, judged from its target's record.
#include "core/job/deciding.h"

namespace ares::core {
namespace {

Standing judge(DependencyKind kind, bool ended, bool succeeded, bool began) {
  switch (kind) {
    case DependencyKind::after_any: return ended ? Standing::met : Standing::waiting;
    case DependencyKind::after_ok:
      return !ended ? Standing::waiting : succeeded ? Standing::met : Standing::failed;
    case DependencyKind::after_not_ok:
      return !ended ? Standing::waiting : succeeded ? Standing::failed : Standing::met;
    case DependencyKind::after: return began || ended ? Standing::met : Standing::waiting;
  }
  return Standing::waiting;
}

bool began(const Job& job) {
  return job.started.has_value() || is_terminal(job.state);
}

// An array began when its last task did.
bool array_began(const ClusterState& state, const Job& array) {
  if (!array.array->waiting.empty()) return false;
  bool all = true;
  state.jobs.for_each_from(JobKey{array.key.job, TaskIndex{0}},
                           [&](const JobKey& key, const Job& task) {
                             if (key.job != array.key.job || key.task.is_none()) return false;
                             all = began(task);
                             return all;
                           });
  return all;
}

}  // namespace

Standing standing(const ClusterState& state, const Dependency& d) {
  const Job* target = state.jobs.find(d.target);
  if (!target) {
    const Job* array =
        d.target.task.is_none() ? nullptr : state.jobs.find(JobKey{d.target.job, {}});
    if (array && array->array && array->array->waiting.contains(d.target.task.value))
      return Standing::waiting;
    if (array && array->array && array->spec->array->contains(d.target.task.value)) {
      return judge(d.kind, true, false, false);  // cancelled with its array before it had a record
    }
    return Standing::met;  // no longer known: lifted
  }
  const bool ended = is_terminal(target->state);
  const bool began_now = d.kind != DependencyKind::after ? false
                         : target->array                 ? array_began(state, *target)
                                                         : began(*target);
  return judge(d.kind, ended, target->state == JobState::completed, began_now);
}

}  // namespace ares::core
