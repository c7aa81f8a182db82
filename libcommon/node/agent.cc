#include "node/agent.h"

#include <algorithm>

namespace ares::node {
namespace {

constexpr std::size_t kForgottenKept = 20'000;
// A controller that marked the node down ignores its heartbeats, although the session lives.
constexpr std::size_t kUnansweredBeforeRegister = 3;

constexpr const char* kEndedBefore = "its end was reported and acknowledged before";

bool jobs_fault(ErrorCode code) {
  return code == ErrorCode::not_found || code == ErrorCode::permission_denied ||
         code == ErrorCode::invalid_argument;
}

}  // namespace

NodeAgent::NodeAgent(AgentSetup setup, Spool& spool, Users& users, Uplink& uplink)
    : setup_(std::move(setup)), spool_(spool), users_(users), uplink_(uplink) {}

// --- start --------------------------------------------------------------------------------------

Status NodeAgent::recover(Executor& executor, Moment now) {
  executor_ = &executor;
  // Starts above the numbers of an earlier aresd, whose acknowledgements must not renew leases.
  sequence_ = static_cast<std::uint64_t>(now.boot.time_since_epoch().count());
  if (Status known = read_identity(now); !known) return known;

  Result<std::vector<std::pair<AttemptKey, Fence>>> forgotten = spool_.forgotten();
  if (!forgotten) return fail(forgotten.error());
  for (const auto& [key, fence] : *forgotten) {
    forgotten_.insert_or_assign(key, fence);
    forgotten_order_.push_back(key);
    note_position(Epoch(), Lsn(fence.value()));
  }

  std::map<AttemptKey, AttemptReport> known;
  for (AttemptReport& report : executor.list(now)) known[report.attempt] = std::move(report);
  Result<std::vector<AttemptKey>> keys = spool_.list();
  if (!keys) return fail(keys.error());
  for (const AttemptKey& key : *keys) {
    auto it = known.find(key);
    restore_attempt(key, it == known.end() ? nullptr : &it->second, now);
  }
  return {};
}

Status NodeAgent::read_identity(Moment now) {
  Result<std::string> text = spool_.read_identity();
  if (text) {
    Result<NodeIdentity> identity = decode_identity(*text);
    if (!identity) return fail(identity.error());
    identity_ = std::move(*identity);
    if (identity_.boot_id == setup_.boot_id) return {};
    ++identity_.incarnation;
  } else {
    if (text.error().code != ErrorCode::not_found) return fail(text.error());
    // A new spool must not reuse incarnations: start at Unix seconds; Welcome may raise it further.
    const auto seconds = std::chrono::floor<Seconds>(now.wall).time_since_epoch().count();
    identity_ = {.uuid = setup_.fresh_uuid,
                 .boot_id = {},
                 .incarnation = static_cast<std::uint64_t>(std::max<std::int64_t>(1, seconds)),
                 .highest_epoch = {},
                 .highest_lsn = {}};
  }
  identity_.boot_id = setup_.boot_id;
  return spool_.write_identity(encode(identity_));
}

void NodeAgent::restore_attempt(const AttemptKey& key, const AttemptReport* known, Moment now) {
  auto remove = [&] {
    executor_->release(key, now);
    (void)spool_.remove(key);  // on failure retried at the next start
  };
  if (forgotten_.contains(key)) return remove();
  Result<AttemptReport> report =
      known ? Result<AttemptReport>(*known) : report_attempt(spool_, key, setup_.boot_id);
  if (!report && report.error().code == ErrorCode::not_found) return remove();

  Entry entry;
  entry.intent.attempt = key;
  if (std::unique_ptr<AttemptDir> dir = spool_.open(key))
    if (Result<std::string> text = dir->read(Record::intent))
      if (Result<IntentRecord> intent = decode_intent(*text)) entry.intent = *intent;
  if (report) {
    entry.report = *report;
    entry.intent.fence = report->fence;
  } else {
    entry.report = bare_report(key, entry.intent.fence, AttemptPhase::lost, report.error().message);
  }
  note_position(Epoch(), Lsn(entry.intent.fence.value()));
  const bool restart = entry.report.phase == AttemptPhase::accepted;
  attempts_.insert_or_assign(key, std::move(entry));
  if (!restart) return;
  std::unique_ptr<AttemptDir> dir = spool_.open(key);
  Result<std::string> text = dir ? dir->read(Record::spec) : fail(ErrorCode::not_found, "no spec");
  Result<StepSpec> step = text ? decode_step_spec(*text) : fail(text.error());
  if (step) launch(*step, now);
}

// --- the session --------------------------------------------------------------------------------

void NodeAgent::connected(Moment now) {
  connected_ = true;
  welcomed_ = false;
  sent_.clear();
  heartbeat_at_ = now.boot + interval_;
  send(Register{.name = setup_.name,
                .incarnation_tag = identity_.uuid + "/" + identity_.boot_id,
                .incarnation = identity_.incarnation,
                .inventory = setup_.inventory,
                .can_freeze = setup_.can_freeze,
                .version = setup_.version,
                .highest_epoch = identity_.highest_epoch,
                .highest_lsn = identity_.highest_lsn,
                .attempts = attempts(),
                .position = identity_.position,
                .enforced = setup_.enforced,
                .clock = now.wall,
                .fault = fault(),
                .joins = setup_.joins,
                .step_port = setup_.step_port});
}

void NodeAgent::disconnected() {
  connected_ = welcomed_ = false;
  sent_.clear();
  heartbeat_at_.reset();
}

void NodeAgent::receive(const ToNode& message, Moment now) {
  if (message.node != setup_.name || message.epoch < identity_.highest_epoch) return;
  note_position(message.epoch, Lsn());
  // A lease is renewed before the position is written, which waits for the disk.
  const bool renews = std::holds_alternative<HeartbeatAck>(message.body);
  if (message.position && !renews) note_position(*message.position);
  std::visit([&](const auto& body) { handle(body, now); }, message.body);
  if (message.position && renews) note_position(*message.position);
}

void NodeAgent::tick(Moment now) {
  if (!connected_ || !heartbeat_at_ || now.boot < *heartbeat_at_) return;
  if (welcomed_ && sent_.size() < kUnansweredBeforeRegister)
    heartbeat(now);
  else
    connected(now);  // no answer to Register or to several heartbeats: register again
}

std::optional<BootTime> NodeAgent::next_deadline() const {
  return connected_ ? heartbeat_at_ : std::nullopt;
}

void NodeAgent::handle(const Welcome& message, Moment now) {
  if (message.incarnation > identity_.incarnation) {
    NodeIdentity raised = identity_;
    raised.incarnation = message.incarnation;
    if (!spool_.write_identity(encode(raised))) return;  // Register is repeated, and so Welcome
    identity_ = raised;
  }
  lease_ = message.lease;
  interval_ = std::max(message.heartbeat, Seconds(1));
  welcomed_ = true;
  refused_.reset();
  heartbeat(now);  // its answer gives the first lease
}

void NodeAgent::handle(const HeartbeatAck& message, Moment now) {
  auto it = sent_.find(message.sequence);
  if (it == sent_.end()) return;
  // Counts from the sending; the controller counts from the later receipt, so ours ends first.
  const BootTime until = it->second + lease_;
  sent_.erase(sent_.begin(), std::next(it));
  if (!lease_until_ || *lease_until_ < until) lease_until_ = until;
  for (auto& [key, entry] : attempts_) {
    if (!entry.intent.leased || has_ended(entry.report.phase)) continue;
    executor_->renew_lease(key, *lease_until_, now);
    if (entry.go_requested && entry.report.phase == AttemptPhase::ready)
      executor_->go(*entry.go_requested, lease_until_, now);
  }
}

void NodeAgent::handle(const Refused& message, Moment) {
  refused_ = message.why;
}

void NodeAgent::heartbeat(Moment now) {
  heartbeat_at_ = now.boot + interval_;
  sent_[++sequence_] = now.boot;
  send(Heartbeat{sequence_, attempts(), uses(), now.wall, fault()});
}

// Processes of a job that do not die are a fault of the node until they do.
std::string NodeAgent::fault() const {
  if (!reboot_failed_.empty()) return reboot_failed_;
  if (!unhealthy_.empty()) return unhealthy_;
  for (const auto& [key, entry] : attempts_)
    if (!has_ended(entry.report.phase) && !entry.report.node_problem.empty())
      return entry.report.node_problem;
  return spool_.fault();
}

void NodeAgent::set_health(std::string unhealthy, Moment now) {
  if (unhealthy == unhealthy_) return;
  unhealthy_ = std::move(unhealthy);
  if (connected_ && welcomed_) heartbeat(now);
}

// Repeated by the controller until the node registers from another boot.
void NodeAgent::handle(const Reboot& message, Moment) {
  if (reboot_ordered_ || message.incarnation != identity_.incarnation) return;
  reboot_ordered_ = true;
  const Status ordered = setup_.reboot
                             ? setup_.reboot()
                             : fail(ErrorCode::failed_precondition,
                                    "node.reboot_program is not set in the node's ares.yaml");
  if (!ordered) reboot_failed_ = "cannot reboot: " + ordered.error().message;
}

std::vector<AttemptUse> NodeAgent::uses() const {
  std::vector<AttemptUse> uses;
  for (const auto& [key, entry] : attempts_)
    if (entry.report.phase == AttemptPhase::running)
      if (std::optional<AttemptUse> use = executor_->use_of(key)) uses.push_back(*use);
  return uses;
}

std::vector<AttemptReport> NodeAgent::attempts() const {
  std::vector<AttemptReport> reports;
  reports.reserve(attempts_.size());
  for (const auto& [key, entry] : attempts_) reports.push_back(entry.report);
  return reports;
}

void NodeAgent::progress(const AttemptReport& report) {
  send(Progress{report});
}

void NodeAgent::send(FromNodeBody body) {
  if (connected_) uplink_.send({setup_.name, identity_.incarnation, std::move(body)});
}

void NodeAgent::note_position(Epoch epoch, Lsn lsn) {
  identity_.highest_lsn = std::max(identity_.highest_lsn, lsn);
  if (epoch <= identity_.highest_epoch) return;
  identity_.highest_epoch = epoch;
  // Best effort: this only detects a controller with an old database. A full disk must not stop jobs.
  (void)spool_.write_identity(encode(identity_));
}

// The controller has compared the position that this node registered with, so a history that is not
// ours followed it.
void NodeAgent::note_position(const JournalPosition& position) {
  JournalPosition& known = identity_.position;
  if (position.history == known.history && position.lsn < known.lsn) return;
  if (position == known) return;
  known = position;
  identity_.highest_lsn = std::max(identity_.highest_lsn, position.lsn);
  // Also of jobs that never reach this node. Best effort, as above.
  (void)spool_.write_identity(encode(identity_));
}

// The position of a message is one that was committed. False: a later one is known.
bool NodeAgent::raise_position(Lsn lsn) {
  if (lsn <= identity_.position.lsn) return false;
  identity_.position.lsn = lsn;
  identity_.position.epoch = identity_.highest_epoch;  // of the message that brought it
  identity_.highest_lsn = std::max(identity_.highest_lsn, lsn);
  return true;
}

// A database without the command is older, and what the command did would stay.
void NodeAgent::note_command(Lsn lsn) {
  if (raise_position(lsn)) (void)spool_.write_identity(encode(identity_));
}

// --- attempts -----------------------------------------------------------------------------------

NodeAgent::Entry* NodeAgent::current(const AttemptKey& key, Fence fence) {
  auto it = attempts_.find(key);
  return it == attempts_.end() || it->second.intent.fence != fence ? nullptr : &it->second;
}

void NodeAgent::handle(const Prepare& message, Moment now) {
  const LaunchSpec& launch_spec = message.launch;
  const AttemptKey& key = launch_spec.attempt;
  const Fence fence = launch_spec.fence;
  if (auto it = attempts_.find(key); it != attempts_.end()) {
    if (it->second.intent.fence == fence) resend_answer(it->second, now);
    return;  // another fence is an older launch's or a restored database's: no answer
  }
  auto decline = [&](const char* cause) { send(LaunchRefused{key, fence, true, cause}); };
  if (const auto ended = forgotten_.find(key); ended != forgotten_.end()) {
    // Its own fence: the controller prepares an attempt that has run, because an older database was
    // restored.
    if (ended->second == fence)
      return progress(bare_report(key, fence, AttemptPhase::lost, kEndedBefore));
    return decline("the attempt has ended on this node already");
  }
  if (launch_spec.share.incarnation > identity_.incarnation) return;  // Welcome has yet to arrive
  if (launch_spec.share.incarnation < identity_.incarnation)
    return decline("it was meant for the node before its restart");
  if (!supersede(launch_spec, now)) return decline("a later attempt of the job is on this node");
  raise_position(Lsn(fence.value()));  // on disk with the attempt's records

  Result<UserIdentity> user = users_.find(launch_spec.spec->uid, launch_spec.spec->gid);
  if (!user) return refuse(key, fence, !jobs_fault(user.error().code), user.error().message, now);
  if (launch_spec.rank == 0 && !message.script)
    return refuse(key, fence, true, "the controller sent no batch script", now);

  const StepSpec step = step_of(launch_spec, std::move(*user));
  const IntentRecord intent{
      key,     fence, identity_.incarnation, setup_.boot_id, launch_spec.rank, launch_spec.leased,
      now.wall};
  if (Status written = write_records(message, step, intent); !written) {
    (void)spool_.remove(key);
    return refuse(key, fence, true, "cannot write to the node's spool: " + written.error().message,
                  now);
  }
  Entry entry;
  entry.intent = intent;
  entry.report = bare_report(key, fence, AttemptPhase::accepted);
  attempts_.insert_or_assign(key, std::move(entry));
  launch(step, now);
}

StepSpec NodeAgent::step_of(const LaunchSpec& launch, UserIdentity user) const {
  StepSpec step{launch, std::move(user), !setup_.inventory.gpus.empty()};
  // Without memory in the allocation nothing was reserved, but the node has no more than this.
  step.memory_limit =
      launch.share.memory.value() > 0 ? launch.share.memory : setup_.inventory.memory;
  step.max_processes = setup_.max_processes_per_cpu * std::max(launch.share.cpus, 1u);
  step.prolog = setup_.prolog;
  step.epilog = setup_.epilog;
  step.task_prolog = setup_.task_prolog;
  if (!setup_.private_tmp.empty())
    step.private_tmp = setup_.private_tmp + "/" + directory_name(launch.attempt);
  const std::vector<GpuIndex>& own = launch.share.gpus;
  for (const auto& [gpu, devices] : setup_.gpu_devices)
    if (std::find(own.begin(), own.end(), gpu) == own.end())
      step.denied_devices.insert(step.denied_devices.end(), devices.begin(), devices.end());
  step.binding = bind_step(launch, setup_.cpu_layout, setup_.gpu_numa_nodes);
  step.visible_gpus = visible_gpus(own);
  return step;
}

// What the driver's libraries call the job's GPUs; empty: as the node numbers them. Libraries number the
// GPUs whose device files they can open: where the kernel keeps a job from those of others, from 0.
std::vector<std::string> NodeAgent::visible_gpus(const std::vector<GpuIndex>& own) const {
  const bool confined = setup_.enforced.find("devices") != std::string::npos;
  if (setup_.gpu_names.empty() && !confined) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto name = setup_.gpu_names.find(own[i]);
    names.push_back(name != setup_.gpu_names.end() ? name->second
                                                   : std::to_string(confined ? i : own[i].value()));
  }
  return names;
}

void NodeAgent::resend_answer(Entry& entry, Moment now) {
  if (entry.refusal) return send(*entry.refusal);
  progress(entry.report);
  if (entry.report.phase != AttemptPhase::accepted || entry.kill_requested) return;
  std::unique_ptr<AttemptDir> dir = spool_.open(entry.intent.attempt);
  Result<std::string> text = dir ? dir->read(Record::spec) : fail(ErrorCode::not_found, "no spec");
  Result<StepSpec> step = text ? decode_step_spec(*text) : fail(text.error());
  if (step)
    launch(*step, now);
  else
    launch_failed(entry.intent.attempt, entry.intent.fence, true, step.error().message, now);
}

Status NodeAgent::write_records(const Prepare& message, const StepSpec& step,
                                const IntentRecord& intent) {
  // A directory without an entry is an incomplete launch: it has no intent, so no supervisor.
  if (Status removed = spool_.remove(intent.attempt); !removed) return removed;
  Result<std::unique_ptr<AttemptDir>> dir = spool_.create(intent.attempt);
  if (!dir) return fail(dir.error());
  if (Status s = (*dir)->create(Record::spec, encode(step)); !s) return s;
  if (intent.rank == 0) {
    if (Status s = (*dir)->create(Record::script, *message.script); !s) return s;
    const std::string_view environment =
        message.environment ? std::string_view(*message.environment) : std::string_view();
    if (Status s = (*dir)->create(Record::environment, environment); !s) return s;
  }
  return (*dir)->create(Record::intent, encode(intent));
}

void NodeAgent::launch(const StepSpec& step, Moment now) {
  Status tried = executor_->launch(step, now);
  if (tried) return;
  launch_failed(step.launch.attempt, step.launch.fence, !jobs_fault(tried.error().code),
                tried.error().message, now);
}

// The controller starts an attempt only after the previous one has ended or was fenced. An earlier
// attempt that is still here was fenced; it is killed at once so that it cannot run beside this one.
bool NodeAgent::supersede(const LaunchSpec& newer, Moment now) {
  std::vector<Kill> kills;
  for (auto& [key, entry] : attempts_) {
    if (key.job != newer.attempt.job) continue;
    if (entry.intent.fence > newer.fence) return false;
    if (!has_ended(entry.report.phase)) kills.push_back({key, entry.intent.fence, true});
  }
  for (const Kill& kill : kills) {
    attempts_.at(kill.attempt).kill_requested = true;
    executor_->kill(kill, now);
  }
  return true;
}

void NodeAgent::handle(const Go& message, Moment now) {
  // Only an attempt that was ready here is told to start: one that is not here any more has ended,
  // and the controller has lost that.
  if (!attempts_.contains(message.attempt))
    return progress(bare_report(message.attempt, message.fence, AttemptPhase::lost, kEndedBefore));
  Entry* entry = current(message.attempt, message.fence);
  if (!entry) return;
  if (entry->report.phase != AttemptPhase::ready || entry->kill_requested)
    return progress(entry->report);
  entry->go_requested = message;
  executor_->go(message, entry->intent.leased ? lease_until_ : std::nullopt, now);
}

void NodeAgent::handle(const Kill& message, Moment now) {
  auto it = attempts_.find(message.attempt);
  if (it == attempts_.end()) {
    if (forgotten_.contains(message.attempt))
      return progress(
          bare_report(message.attempt, message.fence, AttemptPhase::lost, kEndedBefore));
    mark_cancelled(message.attempt, message.fence, "cancelled before it reached the node", now);
    return progress(attempts_.at(message.attempt).report);
  }
  Entry& entry = it->second;
  if (message.fence < entry.intent.fence) return;
  if (has_ended(entry.report.phase)) return progress(entry.report);
  entry.kill_requested = true;
  executor_->kill(Kill{message.attempt, entry.intent.fence, message.immediately, message.grace},
                  now);
}

void NodeAgent::handle(const Signal& message, Moment now) {
  note_command(message.lsn);
  Entry* entry = current(message.attempt, message.fence);
  if (entry && !has_ended(entry->report.phase)) executor_->signal(message, now);
}

void NodeAgent::handle(const SetLimit& message, Moment now) {
  note_command(message.lsn);
  Entry* entry = current(message.attempt, message.fence);
  if (entry && !has_ended(entry->report.phase)) executor_->set_limit(message, now);
}

void NodeAgent::handle(const SetSuspended& message, Moment now) {
  note_command(message.lsn);
  Entry* entry = current(message.attempt, message.fence);
  if (entry && !has_ended(entry->report.phase)) executor_->set_suspended(message, now);
}

void NodeAgent::handle(const Forget& message, Moment now) {
  Entry* entry = current(message.attempt, message.fence);
  if (!entry || !has_ended(entry->report.phase)) return;
  // Recorded before the removal: otherwise a delayed Prepare would find neither and run it again. If
  // the disk is full, the attempt stays and is reported as ended until the controller repeats Forget.
  if (!spool_.remember_forgotten(message.attempt, message.fence)) return;
  forgotten_.insert_or_assign(message.attempt, message.fence);
  forgotten_order_.push_back(message.attempt);
  if (forgotten_order_.size() > kForgottenKept) {
    forgotten_.erase(forgotten_order_.front());
    forgotten_order_.pop_front();
  }
  executor_->release(message.attempt, now);
  (void)spool_.remove(message.attempt);  // on failure: next start, by the list
  attempts_.erase(message.attempt);
}

// --- events of the executor -----------------------------------------------------------------

void NodeAgent::attempt_changed(const AttemptReport& report, Moment now) {
  Entry* entry = current(report.attempt, report.fence);
  if (!entry || has_ended(entry->report.phase) || entry->report == report) return;
  if (report.phase < entry->report.phase) return;  // an older report that arrives late
  const bool was_stuck = !has_ended(entry->report.phase) && !entry->report.node_problem.empty();
  const bool is_stuck = !has_ended(report.phase) && !report.node_problem.empty();
  entry->report = report;
  progress(report);
  if (is_stuck != was_stuck && connected_ && welcomed_) heartbeat(now);  // it tells fault()
}

void NodeAgent::launch_failed(const AttemptKey& key, Fence fence, bool node_fault,
                              const std::string& cause, Moment now) {
  Entry* entry = current(key, fence);
  if (!entry || entry->report.phase != AttemptPhase::accepted) return;
  executor_->release(key, now);
  (void)spool_.remove(key);
  refuse(key, fence, node_fault, cause, now);
}

void NodeAgent::refuse(const AttemptKey& key, Fence fence, bool node_fault,
                       const std::string& cause, Moment now) {
  mark_cancelled(key, fence, cause, now);
  Entry& entry = attempts_.at(key);
  entry.refusal = LaunchRefused{key, fence, node_fault, cause};
  send(*entry.refusal);
}

// Records the cancellation, on disk if there is space: later messages find that it never ran.
void NodeAgent::mark_cancelled(const AttemptKey& key, Fence fence, const std::string& why,
                               Moment now) {
  if (Result<std::unique_ptr<AttemptDir>> dir = spool_.create(key))
    (void)(*dir)->create(Record::cancelled, encode(CancelledRecord{fence, now.wall, why}));
  Entry entry;
  entry.intent.attempt = key;
  entry.intent.fence = fence;
  entry.report = bare_report(key, fence, AttemptPhase::never_ran, why);
  attempts_.insert_or_assign(key, std::move(entry));
}

}  // namespace ares::node
