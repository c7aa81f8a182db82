// Suspend and resume, by command.

#include "core/cluster/preemptible.h"
#include "core/cluster/resume_conflict.h"
#include "core/job/decide/bulk_action.h"
#include "core/job/transitions.h"
#include "core/state/indexes.h"

namespace ares::core {
namespace {

std::string remark(JobState from, JobEvent event) {
  return std::string(transition(from, event).remark) + " (" + std::string(to_string(from)) + ")";
}

bool is_array(const Target& t) {
  return !t.in_array && t.record->array.has_value();
}

Decision not_allowed(const Principal& who, std::string_view verb) {
  return refuse(ErrorCode::permission_denied, "user " + who.user + " may not " + std::string(verb) +
                                                  " jobs: only operators and administrators may");
}

// An operator's suspension lasts until a user resumes the job, also if the scheduler suspended it.
void suspend(BulkAction& action, const Target& t) {
  const Job& job = *t.record;
  if (is_array(t)) return;  // its tasks are separate targets
  const JobState state = t.in_array ? JobState::pending : job.state;
  if (state == JobState::suspended && !is_resumable(job)) return action.mark_done(t);
  if (!accepts(state, JobEvent::suspended))
    return action.refuse_target(t, remark(state, JobEvent::suspended));
  if (!can_be_suspended(action.context().state, job))
    return action.refuse_target(
        t,
        "it runs in pods of Kubernetes, which keep their CPUs while their processes are stopped; "
        "requeue it instead");
  action.add_event(t, Suspended{{job.key, job.attempt}, action.who().uid, action.who().user, {}});
}

class Resume {
 public:
  void operator()(BulkAction& action, const Target& t) {
    const Job& job = *t.record;
    if (is_array(t)) return;
    const JobState state = t.in_array ? JobState::pending : job.state;
    if (!accepts(state, JobEvent::resumed))
      return action.refuse_target(t, remark(state, JobEvent::resumed));
    const DecisionContext& q = action.context();
    if (const auto taken = resume_conflict(q.state, job, q.now, beside_))
      return action.refuse_target(
          t, resume_conflict_text(q.state, *taken) +
                 "; suspend or end those first, or try again when they are over");
    for (const NodeShare& share : job.allocation->nodes) beside_.push_back({job.key, &share});
    action.add_event(t, Resumed{{job.key, job.attempt}, action.who().uid});
  }

 private:
  std::vector<PlannedShare> beside_;  // of jobs that this command has resumed
};

}  // namespace

Decision decide_jobs(const DecisionContext& q, const Principal& who, const SuspendJobs& c) {
  if (!is_operator(q.policy, who.uid)) return not_allowed(who, "suspend");
  return BulkAction(q, who, "suspend").each(c.jobs, suspend);
}

Decision decide_jobs(const DecisionContext& q, const Principal& who, const ResumeJobs& c) {
  if (!is_operator(q.policy, who.uid)) return not_allowed(who, "resume");
  Resume resume;
  return BulkAction(q, who, "resume").each(c.jobs, [&](BulkAction& action, const Target& t) {
    resume(action, t);
  });
}

}  // namespace ares::core
