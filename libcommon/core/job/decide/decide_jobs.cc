// Cancel, signal, hold, release and requeue.
#include "base/signal_name.h"
#include "core/cluster/dead_node.h"
#include "core/job/decide/bulk_action.h"
#include "core/job/transitions.h"

namespace ares::core {
namespace {

// Why the table does not accept the event; a text for the user.
std::string remark(JobState from, JobEvent event) {
  return std::string(transition(from, event).remark) + " (" + std::string(to_string(from)) + ")";
}

bool is_array(const Target& t) {
  return !t.in_array && t.record->array.has_value();
}

void cancel(BulkAction& action, const Target& t) {
  const UserId by = action.who().uid;
  const Job& job = *t.record;
  const Ended ended{t.key, JobState::cancelled, Reason::none, by};
  if (t.in_array) return action.add_event(t, ended);
  if (is_array(t) && job.state == JobState::pending) {
    if (!job.array->waiting.empty()) action.add_event(t, ended);
    return;  // its other tasks are separate targets
  }
  if (job.state == JobState::pending) return action.add_event(t, ended);
  if (is_terminal(job.state)) return;  // as requested; scripts clean up without looking
  if (job.ending && !job.ending->requeue) return action.mark_done(t);
  const Ending ending{JobState::cancelled, Reason::none, by, false, Hold::none, false};
  action.add_event(t, EndingBegan{{job.key, job.attempt}, ending});
}

void signal(BulkAction& action, const Target& t, const Cancel& c) {
  const Job& job = *t.record;
  if (is_array(t)) return;
  if (t.in_array) return action.refuse_target(t, remark(JobState::pending, JobEvent::signalled));
  if (!accepts(job.state, JobEvent::signalled)) {
    return action.refuse_target(t, remark(job.state, JobEvent::signalled));
  }
  action.add_event(
      t, Signalled{{job.key, job.attempt}, c.signal, c.batch_only, c.step, action.who().uid});
}

// An operator's hold on another user's job counts as an administrator's hold.
Hold hold_of(const DecisionContext& q, const Principal& who, const Job& job) {
  return job.spec->uid != who.uid && is_operator(q.policy, who.uid) ? Hold::admin : Hold::user;
}

Reason reason_of(Hold hold) {
  return hold == Hold::admin ? Reason::job_held_admin : Reason::job_held_user;
}

void hold(BulkAction& action, const Target& t, bool as_user) {
  const Job& job = *t.record;
  if (is_array(t) && job.array->waiting.empty() && !is_terminal(job.state)) return;
  if (!accepts(job.state, JobEvent::held)) {
    return action.refuse_target(
        t, "Job is no longer pending execution: " + remark(job.state, JobEvent::held));
  }
  const Hold wanted = as_user ? Hold::user : hold_of(action.context(), action.who(), job);
  if (job.hold == wanted || job.hold == Hold::admin) return action.mark_done(t);
  action.add_event(t, Held{t.key, wanted, reason_of(wanted)});
}

void release(BulkAction& action, const Target& t) {
  const Job& job = *t.record;
  if (is_array(t) && job.array->waiting.empty() && !is_terminal(job.state)) return;
  if (!accepts(job.state, JobEvent::released)) {
    return action.refuse_target(t, remark(job.state, JobEvent::released));
  }
  if (job.hold == Hold::none) return action.mark_done(t);
  if (job.hold == Hold::admin && !is_operator(action.context().policy, action.who().uid)) {
    return action.add_problem(ErrorCode::permission_denied,
                              "user " + action.who().user + " may not release job " +
                                  job_text(t.key) +
                                  ": an administrator holds it (JobHeldAdmin); only operators and "
                                  "administrators may release it");
  }
  action.add_event(t, Released{t.key});
}

void requeue(BulkAction& action, const Target& t, const RequeueJobs& c) {
  const Job& job = *t.record;
  const Hold held = !c.hold          ? Hold::none
                    : c.special_exit ? Hold::special_exit
                                     : hold_of(action.context(), action.who(), job);
  if (is_array(t) &&
      (!is_terminal(job.state) || job.array->completed + job.array->unsuccessful > 0)) {
    return;  // its tasks are separate targets
  }
  if (c.incomplete && (job.state == JobState::pending || job.state == JobState::completed)) return;
  if (job.state == JobState::pending)
    return action.refuse_target(t, "Job is pending execution: there is nothing to requeue");
  if (!job.spec->requeue)
    return action.refuse_target(t, "submitted with --no-requeue, so it may not run again");
  if (is_terminal(job.state)) {
    if (is_array(t)) return action.refuse_target(t, "none of its tasks ever ran; submit it again");
    if (job.spec->gang && job.attempt == AttemptNo{0})
      return action.refuse_target(t, "it never started with its gang; submit the gang again");
    if (const Node* node = may_still_run_on(action.context().state, job))
      return action.refuse_target(
          t, "its last attempt may still run on " + node->name +
                 ", which has not answered since; requeue it when the node is back, or when an "
                 "operator has declared it dead: " +
                 declare_dead_command({node}));
    return action.add_event(t, Requeued{t.key, false, held, Time{}});
  }
  if (job.ending && job.ending->requeue) return action.mark_done(t);
  if (job.ending) return action.refuse_target(t, "it is ending; requeue it once it has ended");
  const Ending ending{JobState::cancelled, Reason::requeued, action.who().uid, true, held, false};
  action.add_event(t, EndingBegan{{job.key, job.attempt}, ending});
}

}  // namespace

Decision decide_jobs(const DecisionContext& q, const Principal& who, const Cancel& c) {
  if (c.signal < 0 || c.signal > kMaxSignal) {
    return refuse(ErrorCode::invalid_argument, "signal " + std::to_string(c.signal) +
                                                   " does not exist: 1 to " +
                                                   std::to_string(kMaxSignal));
  }
  const bool ends_job = c.signal == 0 && !c.step;
  return BulkAction(q, who, c.signal == 0 ? "cancel" : "signal", BulkAction::Unmatched::ignored)
      .each(c.jobs, [&](BulkAction& action, const Target& t) {
        if (ends_job) {
          cancel(action, t);
        } else {
          signal(action, t, c);
        }
      });
}

Decision decide_jobs(const DecisionContext& q, const Principal& who, const HoldJobs& c) {
  return BulkAction(q, who, "hold").each(c.jobs, [&](BulkAction& action, const Target& t) {
    hold(action, t, c.as_user);
  });
}

Decision decide_jobs(const DecisionContext& q, const Principal& who, const ReleaseJobs& c) {
  return BulkAction(q, who, "release").each(c.jobs, [](BulkAction& action, const Target& t) {
    release(action, t);
  });
}

Decision decide_jobs(const DecisionContext& q, const Principal& who, const RequeueJobs& c) {
  return BulkAction(q, who, "requeue").each(c.jobs, [&](BulkAction& action, const Target& t) {
    requeue(action, t, c);
  });
}

}  // namespace ares::core
