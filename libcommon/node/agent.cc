#include "node/agent.h"

#include <algorithm>

#include "node/step_ledger.h"

namespace ares::node {
namespace {

// A controller that marked the node down ignores its heartbeats, although the session lives.
constexpr std::size_t kUnansweredBeforeRegister = 3;

// Milliseconds of Unix time: a node may get a new spool twice within a second. Earlier releases counted seconds, which is less.
std::uint64_t incarnation_by_clock(Moment now) {
  using std::chrono::milliseconds;
  const std::int64_t count = std::chrono::floor<milliseconds>(now.wall).time_since_epoch().count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, count));
}

}  // namespace

NodeAgent::NodeAgent(AgentSetup setup, Spool& spool, Users& users, Uplink& uplink)
    : setup_(std::move(setup)),
      spool_(spool),
      users_(users),
      uplink_(uplink),
      idle_gpus_({}, BootTime()) {}

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
    if (it != known.end()) known.erase(it);
  }
  for (const auto& [key, report] : known) adopt(report, now);
  std::vector<GpuIndex> gpus;
  for (const Gpu& gpu : setup_.inventory.gpus) gpus.push_back(gpu.index);
  idle_gpus_ = IdleGpus(gpus, now.boot);
  look_at_gpus(now);
  return {};
}

Status NodeAgent::read_identity(Moment now) {
  Result<std::string> text = spool_.read_identity();
  if (text) {
    Result<NodeIdentity> identity = decode_identity(*text);
    if (!identity) return fail(identity.error());
    identity_ = std::move(*identity);
    if (identity_.boot_id == setup_.boot_id) return {};
    // An earlier boot may have used one by its clock that it could not write.
    identity_.incarnation = std::max(identity_.incarnation + 1, incarnation_by_clock(now));
  } else {
    if (text.error().code != ErrorCode::not_found) return fail(text.error());
    // A new spool must not reuse incarnations; Welcome may raise it further.
    identity_ = {.uuid = setup_.fresh_uuid,
                 .boot_id = {},
                 .incarnation = incarnation_by_clock(now),
                 .highest_epoch = {},
                 .highest_lsn = {}};
  }
  identity_.boot_id = setup_.boot_id;
  const Status saved = spool_.write_identity(encode(identity_));
  if (saved) return {};
  // The controller has to hear why the node is not in service. Another boot that cannot write either
  // must not use the same incarnation.
  identity_.incarnation = std::max(identity_.incarnation, incarnation_by_clock(now));
  unsaved_ = "cannot write to the node's spool: " + saved.error().message;
  return {};
}

bool NodeAgent::save_identity() {
  const bool saved = static_cast<bool>(spool_.write_identity(encode(identity_)));
  if (saved) unsaved_.clear();
  return saved;
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
  const bool ended = has_ended(entry.report.phase);
  if (ended) add_steps(entry);
  attempts_.insert_or_assign(key, std::move(entry));
  if (ended) return;
  std::unique_ptr<AttemptDir> dir = spool_.open(key);
  Result<std::string> text = dir ? dir->read(Record::spec) : fail(ErrorCode::not_found, "no spec");
  Result<StepSpec> step = text ? decode_step_spec(*text) : fail(text.error());
  if (!step) return;
  attempts_.at(key).gpus = step->launch.share.gpus;
  attempts_.at(key).cpu_ids = step->launch.share.cpu_ids;
  if (restart) launch(*step, now);
}

// An attempt that is not in the spool: the executor alone keeps records of its attempts.
void NodeAgent::adopt(const AttemptReport& report, Moment now) {
  if (forgotten_.contains(report.attempt)) return executor_->release(report.attempt, now);
  Entry entry;
  entry.intent.attempt = report.attempt;
  entry.intent.fence = report.fence;
  // Not known from the report. A lease that an attempt does not need does no harm.
  entry.intent.leased = setup_.can_freeze;
  entry.is_adopted = true;
  entry.report = report;
  note_position(Epoch(), Lsn(report.fence.value()));
  attempts_.insert_or_assign(report.attempt, std::move(entry));
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
                .step_port = setup_.step_port,
                .machine_gone = machine_gone_});
}

void NodeAgent::disconnected() {
  connected_ = welcomed_ = false;
  sent_.clear();
  heartbeat_at_.reset();
  held_.clear();  // the controller sends them again
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
  look_at_gpus(now);
  if (look_at_held_at_ && now.boot >= *look_at_held_at_) start_held(now);
  if (!unsaved_.empty()) save_identity();
  if (!connected_ || !heartbeat_at_ || now.boot < *heartbeat_at_) return;
  if (welcomed_ && sent_.size() < kUnansweredBeforeRegister)
    heartbeat(now);
  else
    connected(now);  // no answer to Register or to several heartbeats: register again
}

std::optional<BootTime> NodeAgent::next_deadline() const {
  const std::optional<BootTime> beat = connected_ ? heartbeat_at_ : std::nullopt;
  const std::optional<BootTime> look =
      setup_.look_at_gpus ? idle_gpus_.next_deadline() : std::nullopt;
  std::optional<BootTime> next;
  for (const std::optional<BootTime>& at : {beat, look, look_at_held_at_})
    if (at && (!next || *at < *next)) next = at;
  return next;
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
  send(Heartbeat{.sequence = sequence_,
                 .attempts = attempts(),
                 .used = uses(),
                 .clock = now.wall,
                 .fault = fault(),
                 .machine_gone = machine_gone_,
                 .load = setup_.load ? setup_.load() : MachineLoad{}});
}

// Processes of a job that do not die are a fault of the node until they do.
std::string NodeAgent::fault() const {
  if (!reboot_failed_.empty()) return reboot_failed_;
  if (!unhealthy_.empty()) return unhealthy_;
  for (const auto& [key, entry] : attempts_)
    if (!has_ended(entry.report.phase) && !entry.report.node_problem.empty())
      return entry.report.node_problem;
  if (std::string unclean = idle_gpus_.fault(); !unclean.empty()) return unclean;
  std::string full = spool_.fault();
  return full.empty() ? unsaved_ : full;
}

void NodeAgent::set_health(std::string unhealthy, Moment now) {
  if (unhealthy == unhealthy_) return;
  unhealthy_ = std::move(unhealthy);
  if (connected_ && welcomed_) heartbeat(now);
}

void NodeAgent::set_machine_gone(bool gone, Moment now) {
  if (gone == machine_gone_) return;
  machine_gone_ = gone;
  if (!connected_) return;
  // The heartbeat that follows a Welcome says it too. A machine that is back is registered first: then
  // what the controller has given up is killed before anything is launched.
  if (!gone)
    connected(now);
  else if (welcomed_)
    heartbeat(now);
}

void NodeAgent::set_inventory(const Inventory& inventory, Moment now) {
  if (inventory == setup_.inventory) return;
  setup_.inventory = inventory;
  if (connected_) connected(now);
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
      if (std::optional<AttemptUse> use = executor_->use_of(key)) {
        if (const auto dir = entry.intent.rank == 0 ? spool_.open(key) : nullptr)
          use->steps = steps_of_running(*dir);
        uses.push_back(std::move(*use));
      }
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
  (void)save_identity();
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
  (void)save_identity();
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
  if (raise_position(lsn)) (void)save_identity();
}

}  // namespace ares::node
