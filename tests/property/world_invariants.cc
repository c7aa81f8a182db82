// Invariants after every step, and messages that must be sent again without another event.
#include "property/world.h"

#include <algorithm>

#include "core/engine/invariants.h"
#include "core/job/apply/apply.h"
#include "core/job/effects/effects.h"
#include "core/job/follow/dependency_notifications.h"
#include "core/job/transitions.h"

namespace ares::property {

namespace {

// Subject of a message to a node. It is expected while the job is in the state `during`; none: until the node forgets the attempt.
struct ExpectedMessage {
  AttemptKey attempt;
  Fence fence;
  std::optional<JobState> during;
};

struct ExpectedMessageOf {
  using Answer = std::optional<ExpectedMessage>;
  Answer operator()(const Prepare& m) const {
    return ExpectedMessage{m.launch.attempt, m.launch.fence, JobState::configuring};
  }
  Answer operator()(const Go& m) const {
    return ExpectedMessage{m.attempt, m.fence, JobState::running};
  }
  Answer operator()(const Kill& m) const {
    return ExpectedMessage{m.attempt, m.fence, JobState::completing};
  }
  Answer operator()(const SetLimit& m) const {
    return ExpectedMessage{m.attempt, m.fence, JobState::running};
  }
  Answer operator()(const SetSuspended& m) const {
    return ExpectedMessage{m.attempt, m.fence,
                           m.suspended ? JobState::suspended : JobState::running};
  }
  Answer operator()(const Forget& m) const { return ExpectedMessage{m.attempt, m.fence, {}}; }
  // A lost signal is not repeated; the others are replies to messages that nodes repeat.
  Answer operator()(const Signal&) const { return {}; }
  Answer operator()(const SignalStep&) const { return {}; }
  Answer operator()(const Welcome&) const { return {}; }
  Answer operator()(const HeartbeatAck&) const { return {}; }
  Answer operator()(const Refused&) const { return {}; }
  Answer operator()(const Reboot&) const { return {}; }
  Answer operator()(const CheckpointKnown&) const { return {}; }
};

// Whether `again` is a repetition of `sent`.
bool fulfils(const ToNodeBody& sent, const ToNodeBody& again, const ClusterState& state) {
  if (sent.index() != again.index()) return false;
  const ExpectedMessage a = *std::visit(ExpectedMessageOf{}, sent),
                        b = *std::visit(ExpectedMessageOf{}, again);
  if (a.attempt != b.attempt || a.fence != b.fence) return false;
  if (const auto* p = std::get_if<Prepare>(&sent))
    return p->launch.rank == std::get<Prepare>(again).launch.rank;
  if (const auto* s = std::get_if<SetLimit>(&sent)) {
    const SetLimit& newer = std::get<SetLimit>(again);
    return newer.lsn >= s->lsn &&
           newer.time_limit == state.jobs.find(a.attempt.job)->allocation->time_limit;
  }
  if (const auto* s = std::get_if<SetSuspended>(&sent)) {
    const SetSuspended& newer = std::get<SetSuspended>(again);
    return newer.lsn >= s->lsn && newer.suspended == s->suspended;
  }
  return true;
}

bool is_owed(const ExpectedMessage& debt, NodeId node, const ClusterState& state) {
  if (!debt.during) return true;
  const Job* job = state.jobs.find(debt.attempt.job);
  if (!job || job->attempt != debt.attempt.attempt || job->state != debt.during ||
      !job->allocation || job->allocation->fence != debt.fence)
    return false;
  const auto& shares = job->allocation->nodes;
  return std::any_of(shares.begin(), shares.end(), [&](const NodeShare& s) {
    return s.node == node && s.phase != SharePhase::released && s.phase != SharePhase::fenced;
  });
}

// What the node reports while it waits for the message.
std::vector<AttemptReport> reports(const ExpectedMessage& debt) {
  if (debt.during) return {};
  AttemptReport r;
  r.attempt = debt.attempt;
  r.fence = debt.fence;
  r.phase = AttemptPhase::done;
  return {r};
}

}  // namespace

// Each message that is sent while it is expected must also follow from the state alone.
void World::check_resent(const Effects& effects) {
  const ClusterState& state = engine_->state();
  for (const Effect& sent : effects) {
    const std::optional<ExpectedMessage> debt = std::visit(ExpectedMessageOf{}, sent.body);
    if (!debt || !is_owed(*debt, sent.node, state)) continue;
    if (!state.nodes.find(sent.node))
      continue;  // it has left, and reports what it has when it joins
    const Effects again = core::reconcile(*policy_, state, sent.node, reports(*debt));
    if (std::none_of(again.begin(), again.end(),
                     [&](const Effect& e) { return fulfils(sent.body, e.body, state); }))
      problems_.push_back("an effect for job " + std::to_string(debt->attempt.job.job.value()) +
                          " fence " + std::to_string(debt->fence.value()) +
                          " does not come again from state");
  }
}

// The events lead by allowed transitions to the state of the engine.
void World::check_replay(const core::EngineBatch& batch) {
  ClusterState replay = batch.before;
  for (const auto& event : batch.events) {
    const auto about = core::job_event_of(event->body);
    const Job* job = about ? replay.jobs.find(about->key) : nullptr;
    const auto from = job ? std::optional(job->state) : std::nullopt;
    for (const std::string& problem : core::check_step(replay, *policy_, *event))
      problems_.push_back(problem);
    core::apply(replay, *event);
    if (about) check_transition(*about, from, replay.jobs.find(about->key));
  }
  if (!(replay == batch.after))
    problems_.push_back("the events of a batch do not lead to its state");
}

void World::check_transition(const core::JobEventRef& about, std::optional<JobState> from,
                             const Job* after) {
  const core::Transition& t = core::transition(from, about.event);
  const std::string what = std::string(to_string(about.event)) + " of job " +
                           std::to_string(about.key.job.value()) + " in " +
                           (from ? std::string(to_string(*from)) : "no state");
  if (t.verdict == core::Verdict::refused) problems_.push_back("illegal event " + what);
  if (t.verdict == core::Verdict::accepted && after && !core::may_lead_to(t, after->state))
    problems_.push_back(what + " led to " + std::string(to_string(after->state)));
}

void World::check_starts() {
  std::map<JobKey, std::vector<AttemptKey>> awake;
  for (const SimulatedNode& node : nodes_) {
    for (const auto& [attempt, times] : node.starts) {
      if (times > 1) problems_.push_back("an attempt started user code twice on one node");
    }
    for (const auto& [attempt, held] : node.attempts) {
      if (held.phase == AttemptPhase::running && held.batch && !node.frozen(held, now_))
        awake[attempt.job].push_back(attempt);
    }
  }
  for (const auto& [job, attempts] : awake) {
    if (attempts.size() > 1)
      problems_.push_back("two attempts of job " + std::to_string(job.job.value()) +
                          " run at once");
  }
}

void World::check() {
  for (const std::string& problem : core::check_invariants(engine_->state()))
    problems_.push_back(problem);
  if (!engine_->has_notifications())
    for (const JobKey& key : core::missed_notifications(engine_->state())) {
      std::string kinds;
      for (const Dependency& d : engine_->state().jobs.find(key)->waiting_for)
        kinds += " " + std::to_string(static_cast<int>(d.kind)) + " of " +
                 std::to_string(d.target.job.value());
      problems_.push_back("job " + std::to_string(key.job.value()) +
                          (key.task.is_none() ? "" : "_" + std::to_string(key.task.value)) +
                          " waits for what is over:" + kinds);
    }
  check_starts();
  for (const auto& [id, key] : answered_) {
    if (key.job >= committed_.next_job_id) problems_.push_back("an acknowledged job is lost");
  }
}

}  // namespace ares::property
