#include "core/job/decide/report.h"

#include <algorithm>

#include "core/cluster/expedite.h"
#include "core/cluster/launch_guard.h"
#include "core/cluster/spare_nodes.h"
#include "core/state/timers.h"
#include "model/engine/history.h"

namespace ares::core {
namespace {

const Charge* charge_of(const Node& node, const AttemptKey& attempt) {
  for (const Charge& charge : node.charges) {
    if (charge.attempt == attempt) return &charge;
  }
  return nullptr;
}

// Ends the attempt on all nodes because this node failed. Before Started it is a failed launch. `blame` none: something else than
// the node is at fault, which counts against the node only before Started, where nothing else ends the attempt.
void node_failed(const Job& job, const AttemptKey& attempt, NodeId node, Reason reason,
                 bool never_ran, const std::string& cause, Decision& d,
                 std::optional<LaunchBlame> blame = LaunchBlame::none) {
  if (job.state == JobState::configuring) {
    d.events.emplace_back(
        LaunchFailed{attempt, node, true, cause, blame.value_or(LaunchBlame::none)});
    return;
  }
  // A running job goes on without a spare node.
  if (!is_active(job.state) || is_spare(job, node)) return;
  // Without its batch node no user code ran anywhere, so even a --no-requeue job may start again.
  const bool nothing_ran = never_ran && job.allocation->nodes.front().node == node;
  Ending ending{JobState::node_fail, reason, {}, job.spec->requeue || nothing_ran, job.hold, true};
  ending.failed_node = node;
  d.events.emplace_back(EndingBegan{attempt, ending, cause});
  if (never_ran && blame) d.events.emplace_back(LaunchFailed{attempt, node, true, cause, *blame});
}

// When the job ended, by the controller's clock. The node's clock may be wrong: a job ends neither before
// its start nor in the future. A node whose clock shows that it began before the controller started it
// is behind by at least that much (the other way round it may have been told late).
Time end_of(const DecisionContext& q, const Job& job, const AttemptReport& r) {
  const Time started = job.started.value_or(q.now);
  const Duration behind = r.ran_since ? std::max(started - *r.ran_since, Duration{0}) : Duration{0};
  return r.ended_at ? std::clamp(*r.ended_at + behind, started, q.now) : q.now;
}

// What a node reports for a job whose user it cannot become or whose output file it cannot open, and
// what Slurm shows for such jobs: ExitCode 0:53.
constexpr std::int32_t kSetupFailed = 1, kSetupFailedSignal = 53;

// The end of the script, at that time.
BatchFinished script_ended(const DecisionContext& q, const Job& job, const AttemptReport& r) {
  const Time at = end_of(q, job, r);
  Ending ending = ending_of(job, r.exit);
  // A node explains only an end before the script: a file or folder that cannot be opened.
  const bool never_ran = ending.reason == Reason::non_zero_exit_code && !r.detail.empty();
  if (never_ran) ending.reason = Reason::launch_failure;
  ending.requeue = ending.state == JobState::failed && !never_ran &&
                   returns_after_failed_script(q.policy, job, at);
  ExitStatus exit = r.exit;
  if (never_ran && exit.code == kSetupFailed) {
    exit.code = 0;
    exit.signal = kSetupFailedSignal;
  }
  return {r.attempt, exit, at, ending, r.detail};
}

// How its batch script ended: a signal may be its own fault, or that of what ended the job.
StepState batch_state(const Job& job, const AttemptReport& r) {
  if (r.exit.out_of_memory) return StepState::out_of_memory;
  const bool own_end = !job.ending || job.ending->state == JobState::completed ||
                       job.ending->state == JobState::failed ||
                       job.ending->state == JobState::out_of_memory;
  if (!own_end || r.exit.timed_out || r.phase == AttemptPhase::lost) return StepState::cancelled;
  return r.exit.code != 0 || r.exit.signal != 0 ? StepState::failed : StepState::completed;
}

// The steps of the attempt, as its first node reports them with the end. The node's clock may be wrong:
// times are kept within the attempt's.
void add_steps(const Job& job, const AttemptReport& r, Time now, Decision& d) {
  if (r.steps.empty()) return;
  const Time began = job.started.value_or(now);
  StepsReported reported{r.attempt, r.steps};
  for (StepRecord& step : reported.steps) {
    step.started = std::clamp(step.started, began, std::max(began, now));
    step.ended = std::clamp(step.ended.value_or(now), step.started, std::max(step.started, now));
    if (step.state == StepState::running) step.state = StepState::cancelled;
    if (step.number == kBatchStep) step.state = batch_state(job, r);
  }
  d.events.emplace_back(std::move(reported));
}

void done(const DecisionContext& q, const Job& job, const AttemptReport& r, NodeId node,
          Decision& d) {
  const bool batch = job.allocation->nodes.front().node == node;
  const NodeReleased released{r.attempt, node, r.usage};
  if (batch) add_steps(job, r, q.now, d);
  if (job.state == JobState::configuring) {
    // Ended before the gate opened: no user code has run.
    d.events.emplace_back(released);
    node_failed(job, r.attempt, node, Reason::launch_failure, true,
                "the attempt ended on the node before it was told to start", d,
                LaunchBlame::refused);
    return;
  }
  if (batch) {
    d.events.emplace_back(script_ended(q, job, r));
    d.events.emplace_back(released);
    return;
  }
  d.events.emplace_back(released);
  if (job.state == JobState::completing) return;
  if (r.exit.timed_out || r.exit.out_of_memory) {
    d.events.emplace_back(EndingBegan{r.attempt, ending_of(job, r.exit)});
  } else {
    node_failed(job, r.attempt, node, Reason::node_down, false,
                "the allocation ended on a node that was not told to end it", d);
  }
}

// An attempt that NodeRunning did not tell of has run too: it may have ended before the node said that
// it ran, or its batch script did on another node.
void launched_unseen(const Job& job, const NodeShare& share, const Node& node, Decision& d) {
  if (share.phase == SharePhase::ready && job.state != JobState::configuring)
    attempt_runs(node, d.events);
}

// An agent gives an attempt up if its machine is gone and the controller does not wait for it. That
// does not prove that it has ended: until an operator declares the node dead, or a machine registers,
// the charge stays, and the job is not requeued beside it (may_still_run_on()).
bool is_only_given_up(const Node& node, const AttemptReport& r) {
  return r.phase == AttemptPhase::lost && node.machine_gone && node.admin != AdminState::down;
}

void late(const Node& node, const AttemptReport& r, Decision& d) {
  const Charge* charge = charge_of(node, r.attempt);
  if (!is_over(r.phase) || !charge || charge->fence != r.fence || is_only_given_up(node, r))
    return;  // reconcile() tells the node what to do with it
  // Clearing the charge ensures that this happens once, however often the node reports.
  if (r.phase != AttemptPhase::never_ran) {
    std::string detail =
        r.phase == AttemptPhase::done
            ? "exit " + std::to_string(r.exit.code) + " signal " + std::to_string(r.exit.signal)
            : r.detail;
    d.events.emplace_back(LateResult{r.attempt, r.fence, node.id, std::move(detail)});
  }
  d.events.emplace_back(ChargeCleared{r.attempt, node.id});
}

// Its user code may have run. Of an attempt that was not told to start, only the database can have
// forgotten that it was: an older copy was restored. The node is ready then, and repeats what it
// reports until the attempt counts as started. `lost` alone proves nothing: a node that was restarted
// while it prepared the attempt reports the same.
bool passed_go(const DecisionContext& q, const AttemptReport& r) {
  if (r.phase == AttemptPhase::running) return true;
  if (r.phase != AttemptPhase::lost && r.phase != AttemptPhase::done) return false;
  const bool before_rollback = r.fence.value() < begin_of(q.state.history).value();
  return r.ran_since || (r.phase == AttemptPhase::lost && before_rollback);
}

// Nothing of it ran on this node, whether or not the node was told to start it.
void never_ran(const DecisionContext& q, const Job& job, const NodeShare& share,
               const AttemptReport& r, const Node& node, Decision& d) {
  if (r.fault == LaunchFault::user && is_active(job.state) && job.state != JobState::configuring) {
    const Ending ending{JobState::failed, Reason::launch_failure, {}, false, Hold::none, false};
    d.events.emplace_back(BatchFinished{
        r.attempt, {.code = 0, .signal = kSetupFailedSignal}, q.now, ending, r.detail});
    d.events.emplace_back(NodeReleased{r.attempt, node.id, r.usage});
    return;
  }
  d.events.emplace_back(NodeReleased{r.attempt, node.id, r.usage});
  // A launch that was meant for the node before its restart says nothing about it now.
  const bool is_its_fault = r.fault == LaunchFault::node && share.incarnation == node.incarnation;
  std::optional<LaunchBlame> blame = is_its_fault ? LaunchBlame::refused : LaunchBlame::none;
  if (r.fault == LaunchFault::system) blame.reset();
  node_failed(job, r.attempt, node.id, Reason::launch_failure, true, r.detail, d, blame);
}

void tell_problem(const Node& node, const AttemptReport& r, Decision& d) {
  if (is_over(r.phase) && !r.node_problem.empty()) problem_reported(node, r.node_problem, d.events);
}

// Checkpoints that the attempt has published since the last one that is committed. Those of an attempt that
// is not the current one are not looked at: its node is told to end it.
void checkpoints(const DecisionContext& q, const Job& job, const AttemptReport& r, NodeId node,
                 Decision& d) {
  if (!job.spec->checkpoint || job.state == JobState::configuring ||
      job.allocation->nodes.front().node != node)
    return;
  std::uint64_t newest = job.checkpoints.empty() ? 0 : job.checkpoints.front().sequence;
  for (const Checkpoint& one : r.checkpoints) {
    if (one.sequence <= newest || one.attempt != job.attempt) continue;
    newest = one.sequence;
    CheckpointCommitted committed{r.attempt, one};
    // The clock of the node may be wrong.
    const Time started = job.started.value_or(q.now);
    committed.checkpoint.at = std::clamp(one.at, started, q.now);
    // An earlier suspension may have ended after `at`; then more work counts as lost than is.
    committed.checkpoint.suspended = std::min(suspended_for(job, committed.checkpoint.at),
                                              Duration{committed.checkpoint.at - started});
    d.events.emplace_back(std::move(committed));
  }
  if (r.restored && r.restored->attempt == job.attempt && job.restored != r.restored)
    d.events.emplace_back(CheckpointRestored{r.attempt, *r.restored});
}

// Whether the time limit ends at the deadline, because it was cut to it.
bool limit_is_deadline(const Job& job) {
  const auto end = limit_end(job);
  return job.spec->deadline && end && *end >= *job.spec->deadline;
}

}  // namespace

const NodeShare* current_share(const Job& job, const AttemptKey& attempt, Fence fence,
                               NodeId node) {
  if (job.attempt != attempt.attempt || !job.allocation || job.allocation->fence != fence ||
      !holds_resources(job.state))
    return nullptr;
  for (const NodeShare& share : job.allocation->nodes) {
    if (share.node == node) return share.phase == SharePhase::fenced ? nullptr : &share;
  }
  return nullptr;
}

Ending ending_of(const Job& job, const ExitStatus& exit) {
  Ending ending;
  if (exit.out_of_memory) {
    ending.state = JobState::out_of_memory;
    ending.reason = Reason::out_of_memory;
  } else if (exit.timed_out && limit_is_deadline(job)) {
    ending.state = JobState::deadline;
    ending.reason = Reason::deadline;
  } else if (exit.timed_out) {
    ending.state = JobState::timeout;
    ending.reason = Reason::time_limit;
  } else if (exit.signal != 0) {
    ending.state = JobState::failed;
    ending.reason = Reason::raised_signal;
  } else if (exit.code != 0) {
    ending.state = JobState::failed;
    ending.reason = Reason::non_zero_exit_code;
  }
  return ending;
}

void decide_report(const DecisionContext& q, const Node& node, const AttemptReport& r,
                   Decision& d) {
  const Job* job = q.state.jobs.find(r.attempt.job);
  const NodeShare* share = job ? current_share(*job, r.attempt, r.fence, node.id) : nullptr;
  const std::size_t before = d.events.size();
  if (!share) {
    late(node, r, d);
    if (d.events.size() > before) tell_problem(node, r, d);
    return;
  }
  if (share->phase == SharePhase::released) return;
  tell_problem(node, r, d);
  checkpoints(q, *job, r, node.id, d);

  if (job->state == JobState::configuring && passed_go(q, r)) {
    if (share->phase == SharePhase::preparing) d.events.emplace_back(NodeReady{r.attempt, node.id});
    return;
  }
  const NodeReleased released{r.attempt, node.id, r.usage};
  switch (r.phase) {
    case AttemptPhase::accepted: break;
    case AttemptPhase::ready:
      if (share->phase == SharePhase::preparing && job->state == JobState::configuring)
        d.events.emplace_back(NodeReady{r.attempt, node.id});
      break;
    case AttemptPhase::running:
      if (share->phase == SharePhase::ready && is_active(job->state))
        d.events.emplace_back(NodeRunning{r.attempt, node.id});
      else
        launched_unseen(*job, *share, node, d);
      // The script has ended, and the epilog runs: the node is not released yet.
      if (r.ended_at && is_active(job->state) && job->allocation->nodes.front().node == node.id)
        d.events.emplace_back(script_ended(q, *job, r));
      break;
    case AttemptPhase::done:
      if (r.detail.empty()) launched_unseen(*job, *share, node, d);
      done(q, *job, r, node.id, d);
      break;
    case AttemptPhase::never_ran: never_ran(q, *job, *share, r, node, d); break;
    case AttemptPhase::lost:
      if (job->allocation->nodes.front().node == node.id) add_steps(*job, r, q.now, d);
      d.events.emplace_back(released);
      node_failed(*job, r.attempt, node.id, Reason::node_down, false, r.detail, d);
      break;
  }
}

void decide_gone(const DecisionContext& q, const Node& node, const Charge& charge, Decision& d) {
  const Job* job = q.state.jobs.find(charge.attempt.job);
  const NodeShare* share =
      job ? current_share(*job, charge.attempt, charge.fence, node.id) : nullptr;
  if (!share) {
    d.events.emplace_back(ChargeCleared{charge.attempt, node.id});
    return;
  }
  // User code can have run only if the node was told to open the gate.
  const bool never_ran =
      share->phase == SharePhase::preparing || job->state == JobState::configuring;
  d.events.emplace_back(NodeReleased{charge.attempt, node.id, {}});
  node_failed(*job, charge.attempt, node.id, never_ran ? Reason::launch_failure : Reason::node_down,
              never_ran, "the node restarted", d);
}

}  // namespace ares::core
