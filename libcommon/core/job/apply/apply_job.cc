// Events about a job as a whole: submission, hold, change, end and requeue.
#include <algorithm>

#include "core/job/apply/records.h"
#include "core/job/checks/spec_fields.h"
#include "core/job/gang.h"

namespace ares::core {
namespace {

// The node that runs the script has proven that it did not, although it was told to: that does not count as a run.
bool never_ran(const Job& job) {
  return job.ending && job.ending->reason == Reason::launch_failure && job.allocation &&
         job.ending->failed_node == job.allocation->nodes.front().node;
}

Reason reason_of(Hold hold) {
  switch (hold) {
    case Hold::none: return Reason::none;
    case Hold::user:
    case Hold::special_exit: return Reason::job_held_user;
    case Hold::admin: return Reason::job_held_admin;
  }
  return Reason::none;
}

// `eligible` is the time from which the job waits only for resources; zero while it cannot run.
void set_eligible(Job& job, Time at) {
  const bool could_run = job.hold == Hold::none && job.waiting_for.empty();
  job.eligible = !could_run ? Time{} : std::max(at, job.spec->begin.value_or(at));
  job.accrues.reset();
}

void set_hold(Job& job, Hold hold) {
  job.hold = hold;
  job.reason = job.dependency_failed ? Reason::dependency_never_satisfied : reason_of(hold);
}

}  // namespace

void apply_job(ClusterState& state, const Submitted& e, Stamp s) {
  Job job;
  job.key = e.key;
  job.own_id = e.key.job;
  job.spec = e.spec;
  job.priority = e.priority;
  job.priority_set = e.spec->priority.has_value();
  job.time_limit = e.spec->time_limit;
  job.waiting_for = e.waiting_for;
  job.submitted = s.at;
  set_hold(job, e.hold);
  set_eligible(job, s.at);
  if (e.spec->array) {
    ArrayState array;
    array.waiting = *e.spec->array;
    array.throttle = e.spec->array_throttle;
    job.array = std::move(array);
  }
  if (e.spec->gang) job.gang = open_gang_of(state, *e.spec).value_or(e.key.job);
  const JobId next{e.key.job.value() + e.id_count};
  state.next_job_id = std::max(state.next_job_id, next);
  put_job(state, std::move(job), s.lsn);
}

void apply_job(ClusterState& state, const TaskSplit& e, Stamp s) {
  const JobKey array_key{e.key.job, {}};
  const Job* array = state.jobs.find(array_key);
  if (!array || !array->array || !array->array->waiting.contains(e.key.task.value)) return;
  Job task = *array;
  task.key = e.key;
  task.own_id = JobId{e.key.job.value() + 1 + e.rank};
  task.array_rank = e.rank;
  task.array.reset();
  // They are counted in the array's record as long as that waits.
  const bool last = array->array->waiting.count() == 1;
  task.gang_lost = last ? array->gang_lost : 0;
  change_job(state, array_key, s.lsn, [&](Job& j) {
    j.array->waiting.erase(e.key.task.value);
    if (last) j.gang_lost = 0;
  });
  put_job(state, std::move(task), s.lsn);
}

void apply_job(ClusterState& state, const Held& e, Stamp s) {
  change_job(state, e.key, s.lsn, [&](Job& job) {
    job.preemption_claim.reset();
    job.expedited.reset();
    set_hold(job, e.hold);
    set_eligible(job, s.at);
  });
}

void apply_job(ClusterState& state, const Released& e, Stamp s) {
  change_job(state, e.key, s.lsn, [&](Job& job) {
    set_hold(job, Hold::none);
    set_eligible(job, s.at);
  });
}

void apply_job(ClusterState& state, const Modified& e, Stamp s) {
  change_job(state, e.key, s.lsn, [&](Job& job) {
    if ((e.spec && !asks_alike(*job.spec, *e.spec)) || e.waiting_for || e.set_time_limit)
      job.preemption_claim.reset();  // it was made for the earlier request
    if (e.spec && !asks_alike(*job.spec, *e.spec)) job.expedited.reset();
    bool may_run_sooner = false;
    if (e.spec) {
      const bool moved = e.spec->partitions != job.spec->partitions;
      may_run_sooner = e.spec->begin != job.spec->begin;
      job.spec = e.spec;
      const Partition* first = state.partitions.find(job.spec->partitions.front());
      if (moved && first && !job.priority_set) job.priority = first->priority;
    }
    if (e.waiting_for) {
      may_run_sooner = true;
      job.waiting_for = *e.waiting_for;
      job.dependency_failed = false;
      if (job.launch_failures == 0) job.not_before = {};  // it was the delay of a dependency
      set_hold(job, job.hold);
    }
    if (may_run_sooner) set_eligible(job, s.at);
    if (e.array_throttle && job.array) job.array->throttle = *e.array_throttle;
    if (e.gang_lost) job.gang_lost = *e.gang_lost;
    if (e.priority) {
      job.priority = *e.priority;
      job.priority_set = true;
    }
    if (e.set_time_limit) {
      job.time_limit = e.time_limit.value_or(Seconds{0});  // 0 = unlimited, as in a specification
      if (job.allocation && holds_resources(job.state)) {
        job.allocation->time_limit = e.time_limit;
        job.allocation->limit_set = s.lsn;
      }
    }
  });
}

void apply_job(ClusterState& state, const DependencyMet& e, Stamp s) {
  change_job(state, e.key, s.lsn, [&](Job& job) {
    if (job.spec->any_dependency)
      job.waiting_for.clear();
    else
      std::erase(job.waiting_for, e.dependency);
    job.not_before = std::max(job.not_before, e.not_before);
    set_eligible(job, std::max(s.at, e.not_before));
  });
}

void apply_job(ClusterState& state, const DependencyFailed& e, Stamp s) {
  change_job(state, e.key, s.lsn, [&](Job& job) {
    // With any_dependency only the last failure counts; the same end may have met another before.
    if (job.spec->any_dependency &&
        (std::erase(job.waiting_for, e.dependency) == 0 || !job.waiting_for.empty()))
      return;
    job.dependency_failed = true;
    job.reason = Reason::dependency_never_satisfied;
  });
}

void apply_job(ClusterState& state, const Ended& e, Stamp s) {
  change_job(state, e.key, s.lsn, [&](Job& job) {
    if (job.array && job.array->active > 0) {
      // Its waiting tasks are cancelled. The array's record ends when its last other task ends.
      job.array->waiting.clear();
      job.ending = Ending{e.state, e.reason, e.by, false, Hold::none, false};
      return;
    }
    if (job.array) job.array->waiting.clear();
    job.state = e.state;
    job.reason = e.reason;
    job.preemption_claim.reset();
    job.expedited.reset();
    if (!job.ended) job.ended = s.at;
    // The ending records which user cancelled the job, even if it never ran.
    if (!job.ending) job.ending = Ending{e.state, e.reason, e.by, false, Hold::none, false};
  });
}

void apply_job(ClusterState& state, const Requeued& e, Stamp s) {
  change_job(state, e.key, s.lsn, [&](Job& job) {
    job.state = JobState::pending;
    // User code may have run before; it sees this number.
    if (job.started && !never_ran(job)) ++job.restarts;
    job.not_before = std::max(job.not_before, e.not_before);
    if (job.ending && job.ending->preempted) job.preempted = job.ending->preempted;
    if (e.hold != Hold::none) job.expedited.reset();
    // The user, not a failure, lets it run again.
    if (!job.ending || !job.ending->requeue || job.ending->reason == Reason::requeued)
      job.expedited_returns = 0;
    job.allocation.reset();
    job.ending.reset();
    job.started.reset();
    job.ended.reset();
    job.exit = {};
    set_hold(job, e.hold);
    set_eligible(job, s.at);
  });
}

void apply_job(ClusterState& state, const AccrualBegan& e, Stamp s) {
  change_job(state, e.key, s.lsn, [&](Job& job) { job.accrues = e.since; });
}

void apply_job(ClusterState& state, const Earmarked& e, Stamp s) {
  const Job* job = state.jobs.find(e.key);
  if (!job) return;
  const UserId user = job->spec->uid;
  std::vector<EvictionKey> old;
  state.evictions.for_each([&](const EvictionKey& key, UserId) {
    if (key.first + kEvictionsKept <= s.at) old.push_back(key);
  });
  for (const EvictionKey& key : old) state.evictions.erase(key);
  for (const AttemptKey& victim : e.preemption_claim.victims)
    state.evictions.set({s.at, victim}, user);
  change_job(state, e.key, s.lsn, [&](Job& j) { j.preemption_claim = e.preemption_claim; });
}

void apply_job(ClusterState& state, const ExpediteExpired& e, Stamp s) {
  change_job(state, e.key, s.lsn, [&](Job& job) {
    if (job.expedited) job.expedited->nodes.clear();
  });
}

void apply_job(ClusterState& state, const Forgotten& e, Stamp) {
  drop_job(state, e.key);
}

}  // namespace ares::core
