#include "core/engine/engine.h"

#include <algorithm>
#include <cassert>

#include "core/engine/attempt_row.h"
#include "core/job/apply/apply.h"
#include "core/job/decide/decide.h"
#include "core/job/effects/effects.h"
#include "core/job/follow/follow.h"
#include "core/job/transitions.h"
#include "core/state/indexes.h"

namespace ares::core {
namespace {

const std::vector<AttemptReport>* reports_of(const Command& command) {
  const auto* node = std::get_if<NodeCommand>(&command.body);
  if (!node) return nullptr;
  if (const auto* r = std::get_if<Register>(&node->message.body)) return &r->attempts;
  if (const auto* h = std::get_if<Heartbeat>(&node->message.body)) return &h->attempts;
  return nullptr;
}

// Messages that reconcile() generates itself. Signals and limits are not: they carry their own lsn.
bool is_sent_by_reconcile(const ToNodeBody& body) {
  return std::holds_alternative<Prepare>(body) || std::holds_alternative<Go>(body) ||
         std::holds_alternative<Kill>(body) || std::holds_alternative<Forget>(body);
}

const std::vector<Blob>* blobs_of(const Command& command) {
  const auto* user = std::get_if<UserCommand>(&command.body);
  if (!user) return nullptr;
  if (const auto* submit = std::get_if<Submit>(&user->body)) return &submit->blobs;
  const auto* many = std::get_if<SubmitMany>(&user->body);
  return many ? &many->blobs : nullptr;
}

// Clients repeat what is unavailable; a node is told, so that its log says why it is not served.
Error objected(const Command& command, const Objection& objection) {
  if (std::holds_alternative<NodeCommand>(command.body)) return {ErrorCode::stale, objection.why};
  return {ErrorCode::unavailable, "the controller acknowledges nothing: " + objection.why};
}

// Whether the node has registered with this spool before.
bool is_known_spool(const Node& node, const Register& r) {
  const auto spool = [](std::string_view tag) { return tag.substr(0, tag.find('/')); };
  return spool(node.incarnation_tag) == spool(r.incarnation_tag);
}

// What a controller told a node is one record. The highest fence and the highest epoch are kept
// apart, and the epoch may be older than the fence if the disk of the node was full.
// A spool of release 0.1.0 does not say of which database it is: one that this database does not know
// may be another cluster's.
bool has_seen_more(const ClusterState& state, const Recovered& recovered, const Node& node,
                   const Register& r) {
  if (r.position.history.empty() && !is_known_spool(node, r)) return false;
  const HeardPosition told = compare_heard(state, recovered, r.position);
  if (told != HeardPosition::covered) return told == HeardPosition::later;
  return r.highest_lsn > state.lsn || r.highest_epoch > state.epoch;
}

// The next start has to be above what all nodes have heard.
void raise(JournalPosition& highest, const JournalPosition& heard) {
  highest.epoch = std::max(highest.epoch, heard.epoch);
  highest.lsn = std::max(highest.lsn, heard.lsn);
  highest.next_job_id = std::max(highest.next_job_id, heard.next_job_id);
}

const Reconfigure* reconfiguration(const Command& command) {
  const auto* user = std::get_if<UserCommand>(&command.body);
  return user ? std::get_if<Reconfigure>(&user->body) : nullptr;
}

}  // namespace

Engine::Engine(ClusterState recovered, std::shared_ptr<const Policy> policy, Bounds bounds)
    : state_(std::move(recovered)),
      policy_(std::move(policy)),
      bounds_(bounds),
      recovered_{state_.epoch, state_.lsn} {
  rebuild_indexes(state_);
  batch_base_ = state_;
  committed_ = std::make_shared<const ClusterState>(state_);
}

void Engine::handle(const Command& command, Time now, Ticket ticket) {
  now = std::max(now, state_.now);
  Decision decision;
  if (auto objection = objection_of(command)) {
    if (objection_)
      raise(objection_->heard, objection->heard);
    else
      object(std::move(*objection));
  }
  if (objection_) {
    decision.failed = true;
    decision.error = objected(command, *objection_);
  } else if (!active_ && !std::holds_alternative<Activate>(command.body)) {
    decision.failed = true;
    decision.error = Error{ErrorCode::unavailable, "the controller is not active yet; retry"};
  } else {
    decision = decide(state_, *policy_, command, now, &sums_);
    if (std::holds_alternative<Activate>(command.body) && !decision.failed) {
      // Pending notifications of the previous controller follow from the records.
      if (!active_) notifications_.push_back(notify_all_dependents());
      active_ = true;
    }
  }

  // Not for a repeated request: it has no events, and its configuration may be out of date.
  if (const Reconfigure* c = reconfiguration(command); c && !decision.failed && !decision.repeated)
    policy_ = c->policy;

  const std::size_t first_effect = effects_.size();
  const std::size_t first_event = events_.size();
  for (EventBody& body : decision.events) commit_event(std::move(body), now);
  follow_from(first_event, now);
  const bool acted = events_.size() > first_event;
  // Commands without events are excluded: their reply would have to wait for a commit.
  if (acted || std::holds_alternative<Tick>(command.body))
    process_notifications(bounds_.notification_events, now);

  if (const std::vector<Blob>* blobs = blobs_of(command); blobs && acted && !decision.failed) {
    for (const Blob& blob : *blobs) {
      blob_bytes_ += blob.content ? blob.content->size() : 0;
      blobs_.push_back(blob);
    }
  }
  send(command, decision, first_effect);
  if (ticket != 0) {
    replies_.push_back({ticket, decision.failed, std::move(decision.error),
                        std::move(decision.jobs), std::move(decision.text), decision.repeated});
  }
}

std::optional<Objection> Engine::objection_of(const Command& command) const {
  const auto* node = std::get_if<NodeCommand>(&command.body);
  const auto* registers = node ? std::get_if<Register>(&node->message.body) : nullptr;
  const NodeId* id = registers ? state_.node_ids.find(node->message.node) : nullptr;
  if (!id || !has_seen_more(state_, recovered_, *state_.nodes.find(*id), *registers))
    return std::nullopt;
  JournalPosition heard = heard_by(*registers);
  std::string why = describe_later(state_, node->message.node, heard);
  // A history that the database knows is one of its own. What the next start is compared with must not
  // be of an ended one, or it would pass.
  if (is_known_history(state_, heard.history)) heard.history = state_.history;
  return Objection{std::move(heard), std::move(why)};
}

// What was decided on the state that is in doubt is never shown, also what is being committed.
void Engine::object(Objection objection) {
  objection_ = std::move(objection);
  const Error why = objected({}, *objection_);
  const auto withdraw = [&why](std::vector<Reply>& replies) {
    for (Reply& reply : replies) {
      if (reply.failed) continue;
      const Ticket ticket = reply.ticket;
      reply = Reply{};
      reply.ticket = ticket;
      reply.failed = true;
      reply.error = why;
    }
  };
  withdraw(replies_);
  effects_.clear();
  notices_.clear();
  if (in_flight_) {
    withdraw(in_flight_->replies);
    in_flight_->effects.clear();
    in_flight_->notices.clear();
  }
  state_ = batch_base_;
  events_.clear();
  blobs_.clear();
  blob_bytes_ = 0;
  touched_.clear();
  finished_.clear();
  notifications_.clear();
}

// Consequences are applied at once, so that the next one is computed from the state after it.
void Engine::follow_from(std::size_t first_event, Time at) {
  for (std::size_t i = first_event; i < events_.size(); ++i) {
    const std::shared_ptr<const Event> cause = events_[i];
    Consequences consequences = follow(state_, *policy_, cause->body, at);
    for (EventBody& body : consequences.events) commit_event(std::move(body), at);
    notifications_.insert(notifications_.end(), consequences.notifications.begin(),
                          consequences.notifications.end());
  }
}

void Engine::process_notifications(std::size_t events, Time at) {
  const std::size_t begin = events_.size();
  WorkBudget budget{events, bounds_.notification_records};
  while (!notifications_.empty() && events_.size() - begin < events && budget.records > 0) {
    const std::size_t first_event = events_.size();
    budget.events = events - (first_event - begin);
    for (EventBody& body : next_notification_events(state_, notifications_.front(), budget))
      commit_event(std::move(body), at);
    if (notifications_.front().done) notifications_.pop_front();
    follow_from(first_event, at);
  }
}

void Engine::continue_notifications(Time now) {
  if (!active_ || full()) return;
  process_notifications(bounds_.batch_events - events_.size(), std::max(now, state_.now));
}

void Engine::commit_event(EventBody body, Time at) {
  Event event;
  event.lsn = state_.lsn.next();
  event.epoch = state_.epoch;
  event.at = at;
  event.body = std::move(body);
  if (const auto* activated = std::get_if<ControllerActivated>(&event.body))
    event.epoch = activated->epoch;

  const std::optional<JobEventRef> about = job_event_of(event.body);
  std::optional<Job> was;  // copied only if the event may cause mail
  if (const Job* before = about ? state_.jobs.find(about->key) : nullptr) {
    if (auto row = superseded_row(*before, event.body, at))
      finished_.insert_or_assign(row->key, std::move(*row));
    if (may_cause_notices(*before, about->event)) was = *before;
  }
  const bool forgets = about && about->event == JobEvent::forgotten;
  if (forgets) save_row(about->key);
  apply(state_, event);
  if (about && changes_row(about->event)) touched_.insert(about->key);
  for (Effect& effect : effects(*policy_, event, state_)) effects_.push_back(std::move(effect));
  if (was)
    for (Notice& notice : notices(*was, state_, at)) notices_.push_back(std::move(notice));
  events_.push_back(std::make_shared<const Event>(std::move(event)));
}

// Stores the row of a job that this batch changed, before the record is removed.
void Engine::save_row(const JobKey& key) {
  if (touched_.erase(key) == 0) return;
  const Job* job = state_.jobs.find(key);
  if (!job) return;
  if (const auto row = attempt_row(*job)) finished_.insert_or_assign(row->key, *row);
}

void Engine::send(const Command& command, Decision& decision, std::size_t first_effect) {
  queue_effects(command, decision, first_effect);
  // A HeartbeatAck makes a node thaw what its expired lease froze, so a Kill must come before it.
  std::stable_partition(
      effects_.begin() + static_cast<std::ptrdiff_t>(first_effect), effects_.end(),
      [](const Effect& e) { return !std::holds_alternative<HeartbeatAck>(e.body); });
}

void Engine::queue_effects(const Command& command, Decision& decision, std::size_t first_effect) {
  if (decision.reconcile) {
    // reconcile() returns all messages that the node needs, also those that its report caused.
    const NodeId node = *decision.reconcile;
    const auto begin = effects_.begin() + static_cast<std::ptrdiff_t>(first_effect);
    effects_.erase(std::remove_if(begin, effects_.end(),
                                  [&](const Effect& e) {
                                    return e.node == node && is_sent_by_reconcile(e.body);
                                  }),
                   effects_.end());
  }
  for (Effect& effect : decision.effects) {
    effect.after = state_.lsn;
    effects_.push_back(std::move(effect));
  }
  if (!decision.reconcile) return;
  const std::vector<AttemptReport>* reported = reports_of(command);
  for (Effect& effect : reconcile(*policy_, state_, *decision.reconcile,
                                  reported ? *reported : std::vector<AttemptReport>{})) {
    effect.after = state_.lsn;
    effects_.push_back(std::move(effect));
  }
}

bool Engine::full() const {
  return events_.size() >= bounds_.batch_events || blob_bytes_ >= bounds_.batch_blob_bytes;
}

bool Engine::has_batch() const {
  return !events_.empty();
}

EngineBatch Engine::take_batch() {
  assert(!in_flight_ && "at most one batch is in flight");
  EngineBatch batch;
  batch.first = batch_base_.lsn.next();
  batch.last = state_.lsn;
  batch.events = std::move(events_);
  batch.blobs = std::move(blobs_);
  for (const JobKey& key : touched_) {
    const Job* job = state_.jobs.find(key);
    if (!job) continue;
    if (auto row = attempt_row(*job)) finished_.insert_or_assign(row->key, std::move(*row));
  }
  batch.attempts.reserve(finished_.size());
  for (auto& [key, row] : finished_) batch.attempts.push_back(std::move(row));
  batch.before = std::move(batch_base_);
  batch.after = state_;
  batch_base_ = state_;
  in_flight_ = Outgoing{std::move(replies_), std::move(effects_), std::move(notices_),
                        std::make_shared<const ClusterState>(state_)};
  events_.clear();
  blobs_.clear();
  blob_bytes_ = 0;
  touched_.clear();
  finished_.clear();
  replies_.clear();
  effects_.clear();
  notices_.clear();
  return batch;
}

Outgoing Engine::committed() {
  assert(in_flight_ && "nothing was taken");
  Outgoing out = std::move(*in_flight_);
  in_flight_.reset();
  committed_ = out.snapshot;
  return out;
}

Outgoing Engine::take_ready() {
  Outgoing out;
  out.snapshot = committed_;
  if (in_flight_ || !events_.empty()) return out;
  out.replies = std::move(replies_);
  out.effects = std::move(effects_);
  replies_.clear();
  effects_.clear();
  return out;
}

}  // namespace ares::core
