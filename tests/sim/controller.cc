#include "sim/controller.h"

#include <algorithm>
#include <utility>

#include "core/job/effects/effects.h"
#include "core/sched/pass/plan.h"
#include "sim/observer.h"
#include "sim/world.h"
#include "store/journal/row_images.h"

namespace ares::sim {
namespace {

// How long a commit or check proves that this controller holds the epoch; the value of the daemon.
constexpr Duration kConfirmationLifetime = 1s;

// So low that crashes often occur while dependency notifications are pending.
constexpr core::Bounds kBounds{.notification_events = 1, .notification_records = 3};

}  // namespace

Controller::Controller(Stage& stage, World& world, Life life, Clock clock)
    : stage_(stage),
      world_(world),
      life_(life),
      clock_(clock),
      journal_(world.database(), life, world.acceptance()),
      holder_("controller-" + std::to_string(life.slot)) {}

Controller::~Controller() = default;

void Controller::start() {
  stage_.note("controller start", life_.slot);
  open();
}

void Controller::open() {
  boundary();
  auto opened = journal_.open();
  if (!opened) {
    if (opened.error().code == ErrorCode::data_loss) world_.refused(opened.error().message);
    if (opened.error().code != ErrorCode::unavailable) throw Killed{life_};
    stage_.timeline.after(stage_.random.between(Duration(100ms), Duration(1s)), life_,
                          [this] { open(); });
    return;
  }
  journal_epoch_ = opened->epoch;
  planned_ = Lsn(0);
  committer_.emplace(journal_, journal_epoch_);
  if (!world_.acceptance().seen || world_.acceptance().accept_rollback)
    roll_call_ = core::RollCall(opened->state, clock_.wall(stage_.now()) + core::kRollCallPatience);
  world_.opened(*opened, holder_);
  const Time start = std::max(opened->state.now, clock_.wall(stage_.now()));
  slewed_.emplace(start, clock_.boot(stage_.now()).time_since_epoch());
  engine_.emplace(std::move(opened->state), world_.policy(), kBounds);
  handle(Command{Activate{journal_epoch_, "host-" + std::to_string(life_.slot)}}, 0);
  handle(Command{world_.configuration()}, 0);
  advance();
  stage_.timeline.after(world_.tick_interval(), life_, [this] { tick(); });
}

// As the daemon's clock: follows the wall clock of its machine but never jumps.
Time Controller::now() {
  return slewed_->at(clock_.wall(stage_.now()), clock_.boot(stage_.now()).time_since_epoch());
}

// --- incoming messages -----------------------------------------------------------------------

void Controller::received(const std::shared_ptr<Session>& session, FromNode message) {
  stage_.timeline.after(Duration(20us), life_, [this, session, message = std::move(message)] {
    if (!engine_) return;
    boundary();
    const bool registers = std::holds_alternative<Register>(message.body);
    Peer& peer = peers_[message.node];
    NodeCommand command{message, "address-" + message.node, {}};
    PostedCommand posted;
    if (registers) {
      if (peer.session && peer.session != session) command.rival_heard = peer.last_message_at;
      posted.registering = session;
    } else if (peer.session == session) {
      peer.last_message_at = now();
    }
    posted.command = Command{std::move(command)};
    post(std::move(posted));
  });
}

void Controller::detached(const std::shared_ptr<Session>& session) {
  for (auto& [name, peer] : peers_)
    if (peer.session == session) peer.session.reset();
}

void Controller::request(UserCommand command, std::uint64_t operation) {
  if (!engine_) return;
  boundary();
  PostedCommand posted;
  posted.command = Command{std::move(command)};
  posted.operation = operation;
  post(std::move(posted));
}

void Controller::post(PostedCommand posted) {
  inbox_.push_back(std::move(posted));
  if (drain_scheduled_) return;
  drain_scheduled_ = true;
  stage_.timeline.after(Duration(30us), life_, [this] {
    drain_scheduled_ = false;
    drain_inbox();
    advance();
  });
}

void Controller::handle(const Command& command, core::Ticket ticket) {
  boundary();
  const Lsn before = engine_->state().lsn;
  engine_->handle(command, now(), ticket);
  if (engine_->state().lsn != before) world_.observer().state_changed(engine_->state());
  if (engine_->objection() && !std::exchange(objected_, true))
    world_.objected(life_, *engine_->objection());
  boundary();
}

// Until the nodes were heard.
bool Controller::must_wait(const PostedCommand& posted) const {
  return (posted.operation || posted.plan) && !objected_ &&
         !roll_call_.over(clock_.wall(stage_.now()));
}

void Controller::continue_notifications() {
  if (!engine_->has_notifications()) return;
  boundary();
  const Lsn before = engine_->state().lsn;
  engine_->continue_notifications(now());
  if (engine_->state().lsn != before) world_.observer().state_changed(engine_->state());
}

void Controller::drain_inbox() {
  std::deque<PostedCommand> held;
  while (!inbox_.empty() && !engine_->full()) {
    PostedCommand posted = std::move(inbox_.front());
    inbox_.pop_front();
    if (must_wait(posted)) {
      held.push_back(std::move(posted));
      continue;
    }
    core::Ticket ticket = 0;
    if (posted.operation || posted.registering || posted.plan) ticket = next_ticket_++;
    handle(posted.command, ticket);
    if (const auto* from = std::get_if<NodeCommand>(&posted.command.body)) {
      const ClusterState& state = engine_->state();
      const NodeId* id = state.node_ids.find(from->message.node);
      const Node* node = id ? state.nodes.find(*id) : nullptr;
      if (node && node->incarnation == from->message.incarnation) leases_.heard(*id, now());
      if (core::answers_roll_call(state, from->message)) roll_call_.heard(*id);
    }
    if (ticket != 0) waiting_.emplace(ticket, Waiting{std::move(posted), engine_->state().lsn});
  }
  inbox_.insert(inbox_.begin(), std::make_move_iterator(held.begin()),
                std::make_move_iterator(held.end()));
}

void Controller::tick() {
  boundary();
  if (!engine_->full()) {
    for (const NodeSilent& silent : leases_.due(engine_->state(), *engine_->policy(), now()))
      handle(Command{silent}, 0);
    handle(Command{Tick{}}, 0);
  }
  drain_inbox();
  advance();
  if (wake_ && *wake_ <= now()) plan();
  stage_.timeline.after(world_.tick_interval(), life_, [this] { tick(); });
}

// --- commits ------------------------------------------------------------------------------------

void Controller::advance() {
  if (in_flight_) return;
  continue_notifications();
  if (!engine_->has_batch()) {
    defer(engine_->take_ready());
    return;
  }
  core::EngineBatch batch = engine_->take_batch();
  if (batch.events.empty()) return release(engine_->committed());
  after_ = batch.after;
  auto rows = store::make_batch(std::move(batch.events), batch.after, std::move(batch.attempts),
                                std::move(batch.blobs));
  in_flight_ = true;
  handed_over_at_ = stage_.now();
  boundary();
  committer_->begin(std::make_shared<const store::Batch>(std::move(rows)));
  if (stage_.mutant == Mutant::reply_before_commit) release(engine_->committed());
  stage_.timeline.after(stage_.random.between(Duration(200us), Duration(2ms)), life_,
                        [this] { commit(); });
}

// Output that needs no commit is released only while this controller is confirmed to hold the epoch.
void Controller::defer(core::Outgoing outgoing) {
  if (outgoing.effects.empty() && outgoing.replies.empty()) return;
  const Instant now = stage_.now();
  if ((epoch_confirmed_at_ && now - *epoch_confirmed_at_ < kConfirmationLifetime) ||
      stage_.mutant == Mutant::idle_acknowledgement)
    return release(std::move(outgoing));
  deferred_ = std::move(outgoing);
  in_flight_ = true;
  handed_over_at_ = now;
  boundary();
  committer_->begin_check(engine_->state().lsn);
  stage_.timeline.after(stage_.random.between(Duration(100us), Duration(1ms)), life_,
                        [this] { commit(); });
}

void Controller::commit() {
  const store::Committer::Step step = committer_->advance();
  if (const auto* retry = std::get_if<store::Committer::RetryAfter>(&step)) {
    stage_.timeline.after(retry->wait, life_, [this] { commit(); });
    return;
  }
  if (const auto* error = std::get_if<Error>(&step)) {
    stage_.note("controller stops", life_.slot, 0, [&] { return error->message; });
    if (deferred_) world_.observer().stopped_by_check();
    throw Killed{life_};
  }
  boundary();
  if (!deferred_) world_.observer().batch_committed(*after_);
  if (!deferred_ && !objected_)
    world_.committed(std::get<store::Committer::Committed>(step).epoch, *after_);
  // The engine's thread wakes up a little later, or much later if the process is paused.
  stage_.timeline.after(
      Duration(20us), life_,
      [this, epoch = std::get<store::Committer::Committed>(step).epoch] { committed(epoch); });
}

void Controller::committed(Epoch epoch) {
  boundary();
  in_flight_ = false;
  epoch_confirmed_at_ = handed_over_at_;
  if (deferred_)
    release(*std::exchange(deferred_, std::nullopt));
  else if (stage_.mutant != Mutant::reply_before_commit)
    release(engine_->committed());
  if (epoch != journal_epoch_) {
    journal_epoch_ = epoch;
    handle(Command{Activate{journal_epoch_, ""}}, 0);
  }
  drain_inbox();
  advance();
}

// --- outgoing messages -----------------------------------------------------------------------

void Controller::release(core::Outgoing outgoing) {
  if (outgoing.snapshot) publish(outgoing.snapshot);
  for (const core::Reply& reply : outgoing.replies) {
    const auto found = waiting_.find(reply.ticket);
    if (found == waiting_.end()) continue;
    const Waiting waiting = std::move(found->second);
    waiting_.erase(found);
    answer(waiting, reply);
  }
  for (Effect& effect : outgoing.effects) {
    if (stage_.mutant != Mutant::lost_outbox_entry)
      world_.observer().regenerates(effect, *outgoing.snapshot);
    deliver(std::move(effect));
  }
}

void Controller::answer(const Waiting& waiting, const core::Reply& reply) {
  boundary();
  if (waiting.posted.plan) {
    planning_ = false;
    if (view_->lsn > planned_) plan();
    return;
  }
  if (waiting.posted.registering) return registered(waiting.posted.registering, reply);
  const auto& command = std::get<UserCommand>(waiting.posted.command.body);
  const RequestKey request{command.who.uid, command.request_id};
  world_.observer().reply_leaves(request, waiting.relies_on, reply);
  if (!reply.failed && std::holds_alternative<Submit>(command.body) && reply.jobs.size() == 1)
    world_.observer().job_given(reply.jobs.front(), request);
  world_.answer(*waiting.posted.operation, reply);
  boundary();
}

void Controller::registered(const std::shared_ptr<Session>& session, const core::Reply& reply) {
  const std::string& name = world_.machine(session->machine).name();
  if (reply.failed) {
    stage_.note("node refused", session->machine, 0, [&] { return reply.error.message; });
    world_.network().to_node(session, ToNode{name, view_->epoch, Refused{reply.error.message}});
    world_.network().close_by_controller(session);
    return;
  }
  Peer& peer = peers_[name];
  peer.session = session;
  peer.last_message_at = now();
}

void Controller::deliver(Effect effect) {
  const Node* node = view_->nodes.find(effect.node);
  if (!node) return;
  const auto found = peers_.find(node->name);
  if (found == peers_.end() || !found->second.session || !found->second.session->controller_open)
    return;
  if (stage_.mutant == Mutant::lost_outbox_entry && world_.loses(effect)) return;
  if (stage_.mutant == Mutant::missing_fence && std::holds_alternative<Kill>(effect.body)) {
    const AttemptKey& key = std::get<Kill>(effect.body).attempt;
    if (world_.database().fenced(key)) return;
  }
  world_.observer().effect_leaves(effect);
  if (auto* prepare = std::get_if<Prepare>(&effect.body)) {
    const JobSpec& spec = *prepare->launch.spec;
    auto script = journal_.blob(spec.script);
    auto environment = journal_.blob(spec.environment);
    if (!script || !environment) {
      const Error& error = (script ? environment : script).error();
      if (error.code != ErrorCode::unavailable)
        throw Violation{"the script of an acknowledged job is gone"};
      return;  // still expected: it is sent again after the node's next heartbeat
    }
    prepare->script = *script;
    prepare->environment = *environment;
  }
  boundary();
  std::optional<JournalPosition> position;
  if (std::holds_alternative<HeartbeatAck>(effect.body) ||
      std::holds_alternative<Welcome>(effect.body))
    position = {view_->history, view_->epoch, holder_, view_->lsn, view_->next_job_id};
  world_.network().to_node(
      found->second.session,
      ToNode{node->name, view_->epoch, std::move(effect.body), std::move(position)});
  boundary();
}

void Controller::publish(std::shared_ptr<const ClusterState> snapshot) {
  if (view_ && snapshot->lsn < view_->lsn) return;
  const bool is_newer = !view_ || snapshot->lsn > view_->lsn;
  view_ = std::move(snapshot);
  if (is_newer && !planning_) stage_.timeline.after(Duration(100us), life_, [this] { plan(); });
}

void Controller::plan() {
  if (planning_ || !view_) return;
  planned_ = view_->lsn;
  Plan plan = planner_.plan(*view_, *world_.policy(), core::Budget{}, now());
  wake_ = plan.wake;
  plan.pending = {};
  if (plan.groups.empty() && plan.accruing.empty()) return;
  planning_ = true;
  PostedCommand posted;
  posted.command = Command{TakePlan{std::move(plan)}};
  posted.plan = true;
  stage_.timeline.after(stage_.random.between(Duration(50us), Duration(5ms)), life_,
                        [this, posted = std::move(posted)] { post(posted); });
}

}  // namespace ares::sim
