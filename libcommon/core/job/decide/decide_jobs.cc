// Cancel, signal, hold, release and requeue.
#include "core/job/decide/acting.h"
#include "core/job/transitions.h"

namespace ares::core {
namespace {

constexpr std::int32_t kMaxSignal = 64;

// Why the table does not accept the event, for the user.
std::string remark(JobState from, JobEvent event) {
  return std::string(transition(from, event).remark) + " (" + std::string(to_string(from)) + ")";
}

bool is_array(const Target& t) {
  return !t.in_array && t.record->array.has_value();
}

void cancel(Acting& acting, const Target& t, bool quiet_if_done) {
  const UserId by = acting.who().uid;
  const Job& job = *t.record;
  const Ended ended{t.key, JobState::cancelled, Reason::none, by};
  if (t.in_array) return acting.event(t, ended);
  if (is_array(t) && job.state == JobState::pending) {
    if (!job.array->waiting.empty()) acting.event(t, ended);
    return;  // its other tasks are targets of their own
  }
  if (job.state == JobState::pending) return acting.event(t, ended);
  if (is_terminal(job.state)) {
    if (!quiet_if_done)
      acting.cannot(t, "Job/step already completing or completed (" +
                           std::string(to_string(job.state)) + ")");
    return;
  }
  if (job.ending && !job.ending->requeue) return acting.done(t);
  const Ending ending{JobState::cancelled, Reason::none, by, false, Hold::none, false};
  acting.event(t, EndingBegan{{job.key, job.attempt}, ending});
}

void signal(Acting& acting, const Target& t, const Cancel& c) {
  const Job& job = *t.record;
  if (is_array(t)) return;
  if (t.in_array) return acting.cannot(t, remark(JobState::pending, JobEvent::signalled));
  if (!accepts(job.state, JobEvent::signalled)) {
    if (is_terminal(job.state) && c.quiet_if_done) return;
    return acting.cannot(t, remark(job.state, JobEvent::signalled));
  }
  acting.event(t, Signalled{{job.key, job.attempt}, c.signal, c.batch_only});
}

// An operator's hold of somebody else's job is an administrator's.
Hold hold_of(const Question& q, const Principal& who, const Job& job) {
  return job.spec->uid != who.uid && is_operator(q.policy, who.uid) ? Hold::admin : Hold::user;
}

Reason reason_of(Hold hold) {
  return hold == Hold::admin ? Reason::job_held_admin : Reason::job_held_user;
}

void hold(Acting& acting, const Target& t, bool as_user) {
  const Job& job = *t.record;
  if (is_array(t) && job.array->waiting.empty() && !is_terminal(job.state)) return;
  if (!accepts(job.state, JobEvent::held)) {
    return acting.cannot(
        t, "Job is no longer pending execution: " + remark(job.state, JobEvent::held));
  }
  const Hold wanted = as_user ? Hold::user : hold_of(acting.question(), acting.who(), job);
  if (job.hold == wanted || job.hold == Hold::admin) return acting.done(t);
  acting.event(t, Held{t.key, wanted, reason_of(wanted)});
}

void release(Acting& acting, const Target& t) {
  const Job& job = *t.record;
  if (is_array(t) && job.array->waiting.empty() && !is_terminal(job.state)) return;
  if (!accepts(job.state, JobEvent::released)) {
    return acting.cannot(t, remark(job.state, JobEvent::released));
  }
  if (job.hold == Hold::none) return acting.done(t);
  if (job.hold == Hold::admin && !is_operator(acting.question().policy, acting.who().uid)) {
    return acting.problem(ErrorCode::permission_denied,
                          "user " + acting.who().user + " may not release job " + job_text(t.key) +
                              ": an administrator holds it (JobHeldAdmin); only operators and "
                              "administrators may release it");
  }
  acting.event(t, Released{t.key});
}

void requeue(Acting& acting, const Target& t, const RequeueJobs& c) {
  const Job& job = *t.record;
  const Hold held = c.hold ? hold_of(acting.question(), acting.who(), job) : Hold::none;
  if (is_array(t) &&
      (!is_terminal(job.state) || job.array->completed + job.array->unsuccessful > 0)) {
    return;  // its tasks are targets of their own
  }
  if (c.incomplete && (job.state == JobState::pending || job.state == JobState::completed)) return;
  if (job.state == JobState::pending)
    return acting.cannot(t, "Job is pending execution: there is nothing to requeue");
  if (!job.spec->requeue)
    return acting.cannot(t, "submitted with --no-requeue, so it may not run again");
  if (is_terminal(job.state)) {
    if (is_array(t)) return acting.cannot(t, "none of its tasks ever ran; submit it again");
    if (job.spec->gang && job.attempt == AttemptNo{0})
      return acting.cannot(t, "it never started with its gang; submit the gang again");
    return acting.event(t, Requeued{t.key, false, held, Time{}});
  }
  if (job.ending && job.ending->requeue) return acting.done(t);
  if (job.ending) return acting.cannot(t, "it is ending; requeue it once it has ended");
  const Ending ending{JobState::cancelled, Reason::requeued, acting.who().uid, true, held, false};
  acting.event(t, EndingBegan{{job.key, job.attempt}, ending});
}

}  // namespace

Decision decide_jobs(const Question& q, const Principal& who, const Cancel& c) {
  if (c.signal < 0 || c.signal > kMaxSignal) {
    return refuse(ErrorCode::invalid_argument, "signal " + std::to_string(c.signal) +
                                                   " does not exist: 1 to " +
                                                   std::to_string(kMaxSignal));
  }
  return Acting(q, who, c.signal == 0 ? "cancel" : "signal")
      .each(c.jobs, [&](Acting& acting, const Target& t) {
        if (c.signal == 0) {
          cancel(acting, t, c.quiet_if_done);
        } else {
          signal(acting, t, c);
        }
      });
}

Decision decide_jobs(const Question& q, const Principal& who, const HoldJobs& c) {
  return Acting(q, who, "hold").each(c.jobs, [&](Acting& acting, const Target& t) {
    hold(acting, t, c.as_user);
  });
}

Decision decide_jobs(const Question& q, const Principal& who, const ReleaseJobs& c) {
  return Acting(q, who, "release").each(c.jobs, [](Acting& acting, const Target& t) {
    release(acting, t);
  });
}

Decision decide_jobs(const Question& q, const Principal& who, const RequeueJobs& c) {
  return Acting(q, who, "requeue").each(c.jobs, [&](Acting& acting, const Target& t) {
    requeue(acting, t, c);
  });
}

}  // namespace ares::core
