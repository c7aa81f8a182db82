#include "aresctld/engine/engine_loop.h"

#include <chrono>
#include <utility>

#include "aresctld/engine/recurrence.h"
#include "core/job/effects/effects.h"
#include "store/journal/row_images.h"

namespace ares::aresctld {
namespace {

// Time for which a commit or check proves that no other controller has taken over. Shorter than any kill allowance: a successor
// waits for lease + 5 % + allowance before it gives up leases that this one may have renewed.
constexpr auto kConfirmationLifetime = std::chrono::seconds(1);

// Interval for events that depend only on time: begin times, leases, retention.
constexpr auto kTick = std::chrono::milliseconds(500);

// A short failover of the database is only a delay. Users are told of a longer one.
constexpr auto kHoldCommands = std::chrono::seconds(2);

// Bounds of the inbox: per user about a second of work. More would only use memory.
constexpr InboxBounds kInboxBounds{
    .one_user = {.commands = 5'000, .jobs = 200'000, .bytes = std::size_t{64} << 20},
    .in_all = {.commands = 20'000, .jobs = 800'000, .bytes = std::size_t{512} << 20}};

core::Reply unavailable(std::string why) {
  core::Reply reply;
  reply.failed = true;
  reply.error = {ErrorCode::unavailable, std::move(why)};
  return reply;
}

core::Reply shutting_down() {
  return unavailable("the controller is shutting down; try again");
}

}  // namespace

EngineLoop::EngineLoop(store::Journal& journal, ClusterState recovered,
                       std::shared_ptr<const Policy> policy, Clock& clock, Sinks sinks)
    : journal_(journal),
      first_epoch_(recovered.epoch),
      engine_(std::move(recovered), std::move(policy)),
      clock_(clock),
      sinks_(std::move(sinks)),
      inbox_(kInboxBounds) {}

EngineLoop::~EngineLoop() {
  stop();
}

void EngineLoop::start() {
  // The recovered state is durable and must be published before the first commit: in an empty state queries would report that
  // all jobs have ended.
  sinks_.publish(std::make_shared<const ClusterState>(engine_.state()));
  engine_thread_ = std::thread([this] { run_engine(); });
  journal_thread_ = std::thread([this] { run_journal(); });
}

std::size_t EngineLoop::hear_nodes_first() {
  roll_call_ = core::RollCall(engine_.state(), clock_.now() + core::kRollCallPatience);
  calling_roll_ = !roll_call_.over(clock_.now());
  return roll_call_.awaited().size();
}

void EngineLoop::post(Command command, OnReply on_reply) {
  post(PostedCommand{std::move(command), std::move(on_reply)});
}

void EngineLoop::post(PostedCommand posted) {
  std::optional<core::Reply> refused;
  {
    const Lock lock(mutex_);
    const bool from_user = std::holds_alternative<UserCommand>(posted.command.body);
    auto why = from_user ? why_nothing_commits() : std::nullopt;
    if (stopping_)
      refused = shutting_down();
    else if (why || (why = inbox_.push(posted)))
      refused = unavailable(std::move(*why));
  }
  if (!refused)
    engine_wake_.notify_one();
  else if (posted.on_reply)
    posted.on_reply(std::move(*refused));
}

std::optional<std::string> EngineLoop::refusal(UserId user, std::size_t bytes) const {
  const Lock lock(mutex_);
  if (auto why = why_nothing_commits()) return why;
  return inbox_.refusal(user, {1, 1, bytes});
}

std::optional<std::string> EngineLoop::why_nothing_commits() const {
  if (!nothing_commits_since_) return std::nullopt;
  if (std::chrono::steady_clock::now() - *nothing_commits_since_ < kHoldCommands)
    return std::nullopt;
  return "nothing can be changed for now: " + nothing_commits_why_;
}

void EngineLoop::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  engine_wake_.notify_all();
  journal_wake_.notify_all();
  if (engine_thread_.joinable()) engine_thread_.join();
  if (journal_thread_.joinable()) journal_thread_.join();
  // Only if the database was unreachable: the outcome is unknown, and clients may retry.
  for (auto& [ticket, waiting] : std::exchange(waiting_, {})) waiting.on_reply(shutting_down());
  for (const PostedCommand& posted : std::exchange(held_, {}))
    if (posted.on_reply) posted.on_reply(shutting_down());
  std::vector<PostedCommand> queued;
  {
    const Lock lock(mutex_);  // refusal() may still be called
    while (!inbox_.empty()) queued.push_back(inbox_.pop());
  }
  for (const PostedCommand& posted : queued)
    if (posted.on_reply) posted.on_reply(shutting_down());
}

void EngineLoop::run_engine() {
  auto next_tick = std::chrono::steady_clock::now();
  bool tick_due = false;
  for (;;) {
    bool committed = false;
    std::optional<Epoch> new_epoch;
    {
      Lock lock(mutex_);
      engine_wake_.wait_until(lock, next_tick, [&]() ARES_REQUIRES(mutex_) {
        return handover_ == Handover::confirmed || handover_ == Handover::abandoned || stopping_ ||
               ((tick_due || engine_.has_notifications() || command_waits()) && !engine_.full());
      });
      if (handover_ == Handover::abandoned) return;
      committed = handover_ == Handover::confirmed;
      new_epoch = std::exchange(new_epoch_, std::nullopt);
      const bool idle = handover_ == Handover::none;
      if (committed) handover_ = Handover::none;
      if (stopping_ && idle && !command_waits() && !engine_.has_batch()) {
        handover_ = Handover::closed;
        journal_wake_.notify_all();
        return;
      }
    }
    if (committed) {
      epoch_confirmed_at_ = handed_over_at_;
      if (deferred_.empty()) release(engine_.committed());
      for (core::Outgoing& outgoing : std::exchange(deferred_, {})) release(std::move(outgoing));
    }
    if (new_epoch) engine_.handle(Command{Activate{*new_epoch, ""}}, clock_.now(), 0);
    if (const auto time = std::chrono::steady_clock::now(); time >= next_tick) {
      next_tick = time + kTick;
      tick_due = true;
      drop_abandoned();
      send_back();
    }
    // Before users' commands, which may fill each batch. If the batch is full the tick remains due.
    if (tick_due && !engine_.full()) {
      tick_due = false;
      const bool nodes_heard = drain_system_commands();
      tick(clock_.now(), nodes_heard);
    }
    if (calling_roll_ && (engine_.objection() || roll_call_.over(clock_.now()))) end_roll_call();
    drain_inbox();
    if (engine_.objection()) object(*engine_.objection());
    if (engine_.has_notifications()) engine_.continue_notifications(clock_.now());
    bool free = false;
    {
      const Lock lock(mutex_);
      free = handover_ == Handover::none;
    }
    if (!free) continue;
    if (!engine_.has_batch()) {
      defer(engine_.take_ready());
      continue;
    }
    core::EngineBatch batch = engine_.take_batch();
    auto rows = store::make_batch(std::move(batch.events), batch.after, std::move(batch.attempts),
                                  std::move(batch.blobs));
    hand_over(std::make_shared<const store::Batch>(std::move(rows)));
  }
}

void EngineLoop::hand_over(Order order) {
  handed_over_at_ = std::chrono::steady_clock::now();
  {
    const Lock lock(mutex_);
    order_ = std::move(order);
    handover_ = Handover::waiting;
  }
  journal_wake_.notify_one();
}

// Stops if the engine is full, or after the commands queued at the start; the next batch follows.
void EngineLoop::drain_inbox() {
  std::size_t waiting = 0;
  {
    const Lock lock(mutex_);
    waiting = calling_roll_ ? inbox_.system_command_count() : inbox_.size();
  }
  drain_inbox(waiting);
}

// One that may be taken now.
bool EngineLoop::command_waits() const {
  return calling_roll_ ? inbox_.system_command_count() > 0 : !inbox_.empty();
}

// What waits for a check of the epoch must not leave any more either.
void EngineLoop::object(const core::Objection& objection) {
  if (objected_ == objection.heard) return;
  objected_ = objection.heard;
  for (core::Outgoing& outgoing : deferred_) {
    outgoing.effects.clear();
    outgoing.notices.clear();
    for (core::Reply& reply : outgoing.replies) {
      const core::Ticket ticket = reply.ticket;
      reply = unavailable(objection.why);
      reply.ticket = ticket;
    }
  }
  if (sinks_.object) sinks_.object(objection);
}

void EngineLoop::end_roll_call() {
  calling_roll_ = false;
  if (sinks_.nodes_heard && !engine_.objection()) sinks_.nodes_heard();
  for (PostedCommand& posted : std::exchange(held_, {})) handle_command(std::move(posted));
}

// The scheduler waits for the outcome of its plan, and makes no other meanwhile.
void EngineLoop::hold_or_handle(PostedCommand posted) {
  if (calling_roll_ && std::holds_alternative<TakePlan>(posted.command.body))
    held_.push_back(std::move(posted));
  else
    handle_command(std::move(posted));
}

// Handles the commands that do not belong to a user. True if all of them were handled.
bool EngineLoop::drain_system_commands() {
  std::size_t waiting = 0;
  {
    const Lock lock(mutex_);
    waiting = inbox_.system_command_count();
  }
  return drain_inbox(waiting) == 0;
}

// Returns how many are left because the engine is full.
std::size_t EngineLoop::drain_inbox(std::size_t most) {
  for (; most > 0 && !engine_.full(); --most) {
    std::optional<PostedCommand> next;
    {
      const Lock lock(mutex_);
      next = inbox_.pop();
    }
    hold_or_handle(std::move(*next));
  }
  return most;
}

// Otherwise clients that retry while the database is unreachable would add a copy each time.
void EngineLoop::drop_abandoned() {
  std::vector<PostedCommand> dropped;
  {
    const Lock lock(mutex_);
    dropped = inbox_.take(
        [](const PostedCommand& posted) { return posted.abandoned && posted.abandoned(); });
  }
  for (const PostedCommand& posted : dropped)
    if (posted.on_reply) posted.on_reply(unavailable("its caller has gone"));
}

// Users are told why they wait, and ask again. Until its batch is committed or lost, what becomes of
// a command that the engine has handled is not known; the same request gets its reply later.
void EngineLoop::send_back() {
  std::optional<std::string> why;
  std::vector<PostedCommand> queued;
  {
    const Lock lock(mutex_);
    why = why_nothing_commits();
    if (!why) return;
    queued = inbox_.take([](const PostedCommand& posted) { return posted.repeats; });
  }
  for (const PostedCommand& posted : queued) posted.on_reply(unavailable(*why));
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiting = next++;
    if (!waiting->second.repeats) continue;
    waiting->second.on_reply(unavailable(*why));
    waiting_.erase(waiting);
  }
}

void EngineLoop::handle_command(PostedCommand posted) {
  const Time now = clock_.now();
  core::Ticket ticket = 0;
  if (posted.on_reply) {
    ticket = next_ticket_++;
    waiting_.emplace(ticket, Waiting{std::move(posted.on_reply), posted.repeats});
  }
  const auto* from_node = std::get_if<NodeCommand>(&posted.command.body);
  engine_.handle(posted.command, now, ticket);
  // After the engine has handled it: a refused message (another incarnation, a second node with the
  // same name) does not prove that the node is alive.
  if (!from_node) return;
  const NodeId* id = engine_.state().node_ids.find(from_node->message.node);
  const Node* node = id ? engine_.state().nodes.find(*id) : nullptr;
  if (calling_roll_ && core::answers_roll_call(engine_.state(), from_node->message))
    roll_call_.heard(*id);
  if (node && node->incarnation == from_node->message.incarnation) leases_.heard(*id, now);
}

// Effects without a commit are sent only while this controller certainly holds the epoch: a successor may have fenced
// attempts that an acknowledged heartbeat would keep alive.
void EngineLoop::defer(core::Outgoing outgoing) {
  if (outgoing.effects.empty() && outgoing.replies.empty()) return;
  if (std::chrono::steady_clock::now() - epoch_confirmed_at_ < kConfirmationLifetime)
    return release(std::move(outgoing));
  deferred_.push_back(std::move(outgoing));
  hand_over(engine_.state().lsn);
}

// No node is declared silent while heartbeats may be queued here, as after a database outage.
void EngineLoop::tick(Time now, bool nodes_heard) {
  if (!engine_.active()) return;  // otherwise one-time events would be refused but considered done
  if (nodes_heard)
    for (const NodeSilent& silent : leases_.due(engine_.state(), *engine_.policy(), now))
      engine_.handle(Command{silent}, now, 0);
  engine_.handle(Command{Tick{}}, now, 0);
  engine_.state().reservations.for_each([&](const std::string& name, const Reservation& r) {
    if (r.recurrence == Recurrence::none || r.end > now) return;
    if (const auto next = next_occurrence(r, now)) next_occurrences_.push_back({name, *next});
  });
  for (NextOccurrence& next : next_occurrences_) engine_.handle(Command{std::move(next)}, now, 0);
  next_occurrences_.clear();
  begin_usage_period(now);
}

// A period that began before periods were configured does not reset usage. One that began while no controller
// ran does, if usage has been reset before.
void EngineLoop::begin_usage_period(Time now) {
  const auto& fairness = engine_.policy()->fairness.value;
  const auto began = fairness ? period_start(fairness->reset, now) : std::nullopt;
  const Time since = engine_.state().usage_since;
  const bool is_new = usage_period_ ? began > usage_period_ : since != Time{};
  usage_period_ = began;
  if (began && is_new && *began > since) engine_.handle(Command{UsagePeriod{*began}}, now, 0);
}

void EngineLoop::release(core::Outgoing outgoing) {
  if (outgoing.snapshot) sinks_.publish(outgoing.snapshot);
  for (core::Reply& reply : outgoing.replies) {
    auto found = waiting_.find(reply.ticket);
    if (found == waiting_.end()) continue;
    OnReply on_reply = std::move(found->second.on_reply);
    waiting_.erase(found);
    on_reply(std::move(reply));
  }
  // After the replies, because one of them may register a node's session, to which the welcome is
  // sent.
  if (!outgoing.effects.empty()) sinks_.send(std::move(outgoing.effects));
  if (!outgoing.notices.empty() && sinks_.notify) sinks_.notify(std::move(outgoing.notices));
}

void EngineLoop::run_journal() {
  store::Committer committer(journal_, first_epoch_);
  Epoch epoch = first_epoch_;
  for (;;) {
    std::shared_ptr<const store::Batch> batch;
    {
      Lock lock(mutex_);
      journal_wake_.wait(lock, [&]() ARES_REQUIRES(mutex_) {
        return handover_ == Handover::waiting || handover_ == Handover::closed;
      });
      if (handover_ == Handover::closed) return;
      handover_ = Handover::in_progress;
      if (auto* to_commit = std::get_if<std::shared_ptr<const store::Batch>>(&order_)) {
        batch = std::move(*to_commit);
        committer.begin(batch);
      } else {
        committer.begin_check(std::get<Lsn>(order_));
      }
    }
    const auto committed = commit(committer);
    if (!committed) {
      // Nothing of this batch was acknowledged or sent. The next start finds out if it is durable.
      const Lock lock(mutex_);
      handover_ = Handover::abandoned;
      engine_wake_.notify_one();
      return;
    }
    if (batch) sinks_.durable({*committed, batch->last, batch->next_job_id, batch->next_node_id});
    {
      const Lock lock(mutex_);
      handover_ = Handover::confirmed;
      if (*committed != epoch) new_epoch_ = epoch = *committed;
    }
    engine_wake_.notify_one();
  }
}

void EngineLoop::database(const Error* why) {
  {
    const Lock lock(mutex_);
    if (!why)
      nothing_commits_since_.reset();
    else if (!nothing_commits_since_)
      nothing_commits_since_ = std::chrono::steady_clock::now();
    if (why) nothing_commits_why_ = why->message;
  }
  sinks_.database(why);
}

std::optional<Epoch> EngineLoop::commit(store::Committer& committer) {
  bool waited = false;
  for (;;) {
    const auto step = committer.advance();
    if (const auto* committed = std::get_if<store::Committer::Committed>(&step)) {
      if (waited) database(nullptr);
      return committed->epoch;
    }
    if (const auto* error = std::get_if<Error>(&step)) {
      sinks_.fatal(*error);
      return std::nullopt;
    }
    const auto& retry = std::get<store::Committer::RetryAfter>(step);
    database(&retry.why);
    waited = true;
    Lock lock(mutex_);
    if (journal_wake_.wait_for(lock, retry.wait, [&]() ARES_REQUIRES(mutex_) { return stopping_; }))
      return std::nullopt;
  }
}

}  // namespace ares::aresctld
