#include "core/job/follow/dependency_notifications.h"

#include <algorithm>

#include "core/job/dependency.h"
#include "core/job/task_rank.h"
#include "core/state/indexes.h"

namespace ares::core {
namespace {

constexpr JobKey kFirst{JobId{0}, TaskIndex{0}}, kLast{JobId{UINT64_MAX}, TaskIndex{}};

// Adds a notification for dependents of anything from `first` to `last`, if there are any.
void add(const ClusterState& state, const JobKey& first, const JobKey& last, TaskIndex changed,
         std::vector<DependencyNotification>& out) {
  state.dependents.for_each_from(
      DependencyEdge{first, kFirst}, [&](const DependencyEdge& key, const Lsn&) {
        if (key.first <= last) out.push_back(DependencyNotification{key, {last, kLast}, changed});
        return false;
      });
}

void add_if_all_began(const ClusterState& state, JobId id,
                      std::vector<DependencyNotification>& out) {
  const JobKey all{id, kAllStarted};
  const std::size_t before = out.size();
  add(state, all, all, {}, out);
  if (out.size() > before && !has_begun(state, JobKey{id, {}})) out.resize(before);
}

bool depends_task_by_task(const ClusterState& state, const Job& job, const Dependency& d) {
  return job.array && waits_task_by_task(state, {job.key, *job.spec}, d);
}

DependencyStatus task_dependency_status(const ClusterState& state, const Job& array,
                                        const Dependency& d, std::uint32_t task) {
  return dependency_status(state, {JobKey{array.key.job, TaskIndex{task}}, *array.spec}, d);
}

// Visits the tasks from `from` on while visit(task) is true; returns whether all were visited.
template <class Visit>
bool each_task(const IntervalSet& tasks, std::uint32_t from, Visit&& visit) {
  for (const IntervalSet::Interval& run : tasks.intervals())
    for (std::uint64_t task = std::max(run.first, from); task <= run.last; ++task)
      if (!visit(static_cast<std::uint32_t>(task))) return false;
  return true;
}

class DependentNotifier {
 public:
  DependentNotifier(const ClusterState& state, DependencyNotification& notification,
                    WorkBudget& budget)
      : state_(state), notification_(notification), budget_(budget) {}

  // Whether this dependent needs no more events, so that the next one can be visited.
  bool notify(const DependencyEdge& key) {
    if (!use_record()) return false;
    const Job* job = state_.jobs.find(key.second);
    if (!job) return true;
    for (const Dependency& d : job->waiting_for) {
      if (prerequisite(*job, d) != key.first) continue;
      const bool all = depends_task_by_task(state_, *job, d)
                           ? notify_tasks(*job, d)
                           : emit(dependency_outcome(state_, job->key, *job->spec, d));
      if (!all || !out_.empty()) return false;
    }
    return true;
  }

  std::vector<EventBody> take() { return std::move(out_); }

 private:
  bool use_record() {
    if (budget_.records == 0 || budget_.events == 0) return false;
    --budget_.records;
    return true;
  }

  bool emit(std::vector<EventBody> events) {
    budget_.events -= std::min(budget_.events, events.size());
    for (EventBody& event : events) out_.push_back(std::move(event));
    return true;
  }

  // A waiting task whose counterpart has an outcome gets its own record, and that outcome.
  void notify_task(const Job& array, const Dependency& d, std::uint32_t task) {
    const JobKey key{array.key.job, TaskIndex{task}};
    std::vector<EventBody> events = dependency_outcome(state_, key, *array.spec, d);
    if (events.empty()) return;
    events.insert(events.begin(), TaskSplit{key, task_rank(array, key.task)});
    emit(std::move(events));
  }

  bool notify_tasks(const Job& array, const Dependency& d) {
    const IntervalSet& waiting = array.array->waiting;
    if (!notification_.changed.is_none()) {
      if (waiting.contains(notification_.changed.value))
        notify_task(array, d, notification_.changed.value);
      return true;
    }
    const Job* target = state_.jobs.find(JobKey{d.target.job, {}});
    const bool over = target && is_terminal(target->state);
    if (over && notification_.next_task == 0 && notify_array(array, d)) return true;
    const bool end = each_task(waiting, notification_.next_task, [&](std::uint32_t task) {
      if (!use_record()) return false;
      notification_.next_task = task + 1;
      const bool outcome_known =
          !over || task_dependency_status(state_, array, d, task).kind == DependencyStatus::met;
      if (outcome_known) notify_task(array, d, task);
      return true;
    });
    // The array is over: tasks left have failed, unless it ran again. They are checked once more.
    if (end && over) notification_.next_task = 0;
    return end && !over;
  }

  // Every task has an outcome. If it is the same for all, the array gets it in one event.
  bool notify_array(const Job& array, const Dependency& d) {
    const IntervalSet& waiting = array.array->waiting;
    std::size_t met = 0;
    each_task(waiting, 0, [&](std::uint32_t task) {
      met += task_dependency_status(state_, array, d, task).kind == DependencyStatus::met ? 1 : 0;
      return true;
    });
    if (met == waiting.count()) return emit({DependencyMet{array.key, d, {}}});
    if (met == 0) return emit({DependencyFailed{array.key, d}});
    return false;
  }

  const ClusterState& state_;
  DependencyNotification& notification_;
  WorkBudget& budget_;
  std::vector<EventBody> out_;
};

}  // namespace

void add_notifications_of_start(const ClusterState& state, const JobKey& started,
                                std::vector<DependencyNotification>& out) {
  if (!started.task.is_none()) add(state, started, started, {}, out);
  add_if_all_began(state, started.job, out);
}

void add_notifications_of_end(const ClusterState& state, const JobKey& ended,
                              std::vector<DependencyNotification>& out) {
  // For an array, also for its tasks that were cancelled before they had a record.
  if (ended.task.is_none()) return add(state, {ended.job, TaskIndex{0}}, ended, {}, out);
  const JobKey each{ended.job, kEachTask};
  add(state, ended, ended, {}, out);
  add(state, each, each, ended.task, out);
  add_if_all_began(state, ended.job, out);
}

void add_notifications_of_array(const ClusterState& state, const JobKey& array,
                                std::vector<DependencyNotification>& out) {
  const Job* job = state.jobs.find(array);
  if (!job || !job->array) return;
  for (const Dependency& d : job->waiting_for)
    if (depends_task_by_task(state, *job, d))
      out.push_back(
          DependencyNotification{{prerequisite(*job, d), array}, {prerequisite(*job, d), array}});
}

void add_notifications_of_name(const ClusterState& state, const JobSpec& like,
                               std::vector<DependencyNotification>& out) {
  const Job* next = first_of_name(state, like);
  if (!next) return;
  const JobKey turn{next->key.job, kFirstOfName};
  add(state, turn, turn, {}, out);
}

DependencyNotification notify_all_dependents() {
  return DependencyNotification{{kFirst, kFirst}, {kLast, kLast}};
}

std::vector<EventBody> next_notification_events(const ClusterState& state,
                                                DependencyNotification& notification,
                                                WorkBudget& budget) {
  DependentNotifier notifier(state, notification, budget);
  bool stopped = false;
  state.dependents.for_each_from(notification.next, [&](const DependencyEdge& key, const Lsn&) {
    if (key > notification.last) return false;
    if (key != notification.next) notification.next_task = 0;
    notification.next = key;
    stopped = !notifier.notify(key);
    return !stopped;
  });
  notification.done = !stopped;
  return notifier.take();
}

std::vector<EventBody> dependency_outcome(const ClusterState& state, const JobKey& key,
                                          const JobSpec& spec, const Dependency& dependency) {
  const DependencyStatus s = dependency_status(state, {key, spec}, dependency);
  switch (s.kind) {
    case DependencyStatus::waiting: return {};
    case DependencyStatus::met: return {DependencyMet{key, dependency, s.not_before}};
    case DependencyStatus::failed: return {DependencyFailed{key, dependency}};
  }
  return {};
}

std::vector<JobKey> missed_notifications(const ClusterState& state) {
  std::vector<JobKey> out;
  state.jobs.for_each([&](const JobKey& key, const Job& job) {
    if (!is_queued(job) || job.dependency_failed) return;
    const auto is_over = [&](const Dependency& d) {
      if (!depends_task_by_task(state, job, d))
        return dependency_status(state, {key, *job.spec}, d).kind != DependencyStatus::waiting;
      return !each_task(job.array->waiting, 0, [&](std::uint32_t task) {
        return task_dependency_status(state, job, d, task).kind == DependencyStatus::waiting;
      });
    };
    if (std::any_of(job.waiting_for.begin(), job.waiting_for.end(), is_over)) out.push_back(key);
  });
  return out;
}

}  // namespace ares::core
