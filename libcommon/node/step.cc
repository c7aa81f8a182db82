#include "node/step.h"

#include <csignal>

namespace ares::node {
namespace {

// How often a gated task checks that its directory, and so a way to open the gate, exists.
constexpr Duration kOrphanCheck = std::chrono::seconds(30);

void keep_earlier(std::optional<BootTime>& earliest, const std::optional<BootTime>& candidate) {
  if (candidate && (!earliest || *candidate < *earliest)) earliest = candidate;
}

}  // namespace

std::string describe(const ProgramEnd& end) {
  const std::string how = end.signal != 0 ? "was ended by signal " + std::to_string(end.signal)
                                          : "exited with " + std::to_string(end.code);
  return end.said.empty() ? how : how + ": " + end.said;
}

StepSettings settings_of(const LaunchSpec& launch) {
  StepSettings settings;
  settings.attempt = launch.attempt;
  settings.fence = launch.fence;
  settings.runs_script = launch.rank == 0;
  settings.leased = launch.leased;
  settings.kill_wait = launch.kill_wait;
  settings.checkpoints = launch.spec->checkpoint.has_value();
  // The other nodes, too, tell the job's tasks to save their state before they end them.
  if (settings.checkpoints) settings.warning = launch.spec->warning;
  // The first node ends the job, and the controller the other ones then.
  if (settings.runs_script) {
    settings.time_limit = launch.time_limit;
    settings.warning = launch.spec->warning;
  }
  return settings;
}

StepMachine::StepMachine(StepSettings settings, AttemptDir& dir, ProcessTree& tree,
                         std::function<void(StepNotice)> notify, SitePrograms* programs)
    : settings_(std::move(settings)),
      dir_(dir),
      tree_(tree),
      notify_(std::move(notify)),
      programs_(programs) {
  // Nothing is restored from records: `started` elects at most one supervisor in the life of an
  // attempt, so each machine begins in State::idle.
}

Status StepMachine::start(Moment now, const std::function<Status()>& prepare) {
  auto unlock_and_fail = [this](Error error) {
    state_ = State::finished;
    return fail(std::move(error));
  };
  const std::string name = directory_name(settings_.attempt);
  if (!dir_.has(Record::intent))
    return unlock_and_fail({ErrorCode::failed_precondition, "attempt " + name + " has no intent"});
  Result<bool> locked = dir_.lock();
  if (!locked) return unlock_and_fail(locked.error());
  if (!*locked)
    return unlock_and_fail({ErrorCode::already_exists, "attempt " + name + " has a supervisor"});
  // After the lock: aresd writes `cancelled` before it tests the lock, so at least one of the two
  // notices the other.
  if (dir_.has(Record::cancelled))
    return unlock_and_fail({ErrorCode::stale, "attempt " + name + " was cancelled"});
  // Directories are recycled for other attempts. A late supervisor finds a foreign intent here.
  const Result<std::string> intent = dir_.read(Record::intent);
  const Result<IntentRecord> intended =
      intent ? decode_intent(*intent) : Result<IntentRecord>(fail(intent.error()));
  if (!intended || intended->attempt != settings_.attempt || intended->fence != settings_.fence)
    return unlock_and_fail({ErrorCode::stale, "attempt " + name + " is over"});
  if (dir_.has(Record::exit))
    return unlock_and_fail({ErrorCode::already_exists, "attempt " + name + " has ended"});
  StartedRecord self = settings_.self;
  self.at = now.wall;
  if (Status elected = dir_.create(Record::started, encode(self)); !elected)
    return unlock_and_fail(elected.error());
  if (Status reserved = dir_.reserve_exit(); !reserved) {
    cancel_start(reserved.error().message, now);
    return reserved;
  }
  if (Status prepared = prepare ? prepare() : Status{}; !prepared) {
    cancel_start(prepared.error().message, now);
    return prepared;
  }
  if (settings_.epilog_timeout) {
    // From here on the node is not clean before the epilog has run, whatever becomes of this process.
    if (Status owed = dir_.create(Record::cleaning, {}); !owed) {
      cancel_start(owed.error().message, now);
      return owed;
    }
    owes_epilog_ = true;
  }
  return settings_.prolog_timeout ? run_prolog(now) : spawn_task(now);
}

Status StepMachine::run_prolog(Moment now) {
  if (Status begun = programs_->start_prolog(); !begun) {
    const std::string why = "prolog: " + begun.error().message;
    cancel_start(why, now, why);
    return begun;
  }
  state_ = State::prolog;
  program_until_ = now.boot + *settings_.prolog_timeout;
  return {};
}

Status StepMachine::spawn_task(Moment now) {
  Result<TaskRecord> spawned = tree_.spawn_gated();
  if (!spawned) {
    cancel_start(spawned.error().message, now);
    return fail(spawned.error());
  }
  TaskRecord& task = *spawned;
  task.at = now.wall;
  if (Status written = dir_.create(Record::task, encode(task)); !written) {
    cancel_start(written.error().message, now);
    return written;
  }
  state_ = State::gated;
  retry_at_ = now.boot + kOrphanCheck;
  notify_(StepNotice::ready);
  return {};
}

void StepMachine::receive(const StepCommand& command, Moment now) {
  if (finished()) return;
  // This process may have been stopped until now: a lease that has ended comes before any command.
  if (!std::holds_alternative<StepRenewLease>(command) && !std::holds_alternative<StepGo>(command))
    obey_lease(now);
  std::visit([&](const auto& c) { handle(c, now); }, command);
}

void StepMachine::handle(const StepGo& command, Moment now) {
  if (command.lease_until) handle(StepRenewLease{*command.lease_until}, now);
  if (state_ != State::gated || command.fence != settings_.fence) return;
  if (settings_.leased && !lease_is_live(now)) return;  // sent again with the next renewal
  if (dir_.has(Record::cancelled)) return cancel_start("cancelled before it was started", now);
  if (Status committed = dir_.create(Record::go, encode(GoRecord{settings_.fence, now.wall}));
      !committed)
    return;  // disk full: the gate stays closed; another Go or the start barrier decides
  running_since_ = now;
  state_ = State::running;
  if (settings_.leased) tree_.guard_until(*lease_until_);
  tree_.open_gate();
  if (settings_.time_limit) limit_at_ = now.boot + *settings_.time_limit;
  // It was suspended while it waited at the gate.
  if (suspended_) suspend(suspend_grace_, now);
  notify_(StepNotice::running);
}

void StepMachine::handle(const StepKill& command, Moment now) {
  if (command.fence < settings_.fence) return;
  if (state_ == State::gated) return cancel_start("cancelled before it was started", now);
  if (state_ == State::prolog) {
    start_cancelled_ = true;
    return kill_program(now);
  }
  if (state_ == State::running || state_ == State::stopping)
    stop(command.immediately, command.grace, now);
}

void StepMachine::handle(const StepSignal& command, Moment) {
  if (command.fence != settings_.fence || command.lsn <= last_signal_) return;
  if (!user_code_may_run()) return;  // last_signal_ unchanged: a repetition is delivered
  last_signal_ = command.lsn;
  if (command.batch_only && !settings_.runs_script) return;
  // Signals wait for the resume. SIGCONT, which would resume, is dropped. SIGKILL thaws at once.
  if ((suspended_ || frozen_) && command.signal == SIGCONT) return;
  tree_.signal(command.signal, command.batch_only ? SignalTo::batch_script : SignalTo::all);
  if (suspended_ && !frozen_ && command.signal == SIGKILL) tree_.thaw();
}

void StepMachine::handle(const StepSetSuspended& command, Moment now) {
  if (command.fence != settings_.fence || command.lsn <= last_suspend_) return;
  if (state_ != State::running && state_ != State::gated) return;
  last_suspend_ = command.lsn;
  if (command.suspended == suspended_) return;
  suspended_ = command.suspended;
  suspend_grace_ = command.grace;
  if (state_ != State::running) return;
  if (suspended_)
    suspend(command.grace, now);
  else
    resume(now);
}

// Suspended time does not count towards the limit. A freezer stops all processes at once. Without
// one they get TSTP first, to release what they hold, and STOP after `grace`.
void StepMachine::suspend(Seconds grace, Moment now) {
  suspended_since_ = now.boot;
  limit_at_.reset();
  if (settings_.checkpoints && settings_.warning && grace > Seconds{0}) {
    tree_.announce_end(now.wall + grace, "SUSPENDED");
    stop_at_ = now.boot + grace;
    return send_warning();
  }
  if (tree_.has_freezer() || grace <= Seconds{0}) return stop_processes();
  tree_.signal(SIGTSTP, SignalTo::all);
  stop_at_ = now.boot + grace;
}

Lsn StepMachine::stopped_by() const {
  const bool stopped = state_ == State::running && suspended_ && !stop_at_;
  return stopped ? last_suspend_ : Lsn{};
}

void StepMachine::stop_processes() {
  if (!tree_.freeze()) tree_.signal(SIGSTOP, SignalTo::all);
}

void StepMachine::resume(Moment now) {
  suspended_total_ += now.boot - suspended_since_;
  if (settings_.checkpoints && settings_.warning) {
    tree_.withdraw_end();
    warned_ = false;
  }
  stop_at_.reset();
  if (settings_.time_limit)
    limit_at_ = running_since_->boot + suspended_total_ + *settings_.time_limit;
  if (!frozen_) tree_.thaw();
}

void StepMachine::handle(const StepSetLimit& command, Moment) {
  if (command.fence != settings_.fence || command.lsn <= last_limit_) return;
  last_limit_ = command.lsn;
  if (!settings_.runs_script) return;
  settings_.time_limit = command.time_limit;
  if (state_ != State::running) return;
  limit_at_.reset();
  warned_ = false;  // of another end
  if (settings_.time_limit && !suspended_)
    limit_at_ = running_since_->boot + suspended_total_ + *settings_.time_limit;
}

void StepMachine::handle(const StepRenewLease& command, Moment now) {
  if (!lease_until_ || *lease_until_ < command.until) lease_until_ = command.until;
  if (!settings_.leased || !user_code_may_run()) return;
  tree_.guard_until(*lease_until_);
  if (lease_is_live(now)) obey_lease(now);  // else a later renewal may follow at once
}

// If the lease has ended, freezes the processes, or kills them where that is not possible. If it is
// live, lets them go on, also after the guardian has stopped them.
void StepMachine::obey_lease(Moment now) {
  if (!settings_.leased || !user_code_may_run()) return;
  const bool stopped = frozen_ || tree_.stopped_by_guardian();
  if (lease_is_live(now)) {
    if (stopped && !suspended_) tree_.thaw();
    frozen_ = false;
    return;
  }
  if (frozen_) return;
  frozen_ = state_ == State::running && (tree_.freeze() || stopped);
  if (frozen_) return;
  result_.lease_ended = state_ == State::running;  // else it was ending for another reason
  result_.detail = "killed because the lease of the attempt ran out";
  kill_everything(now);
}

bool StepMachine::has_processes() const {
  return state_ == State::gated || user_code_may_run() || state_ == State::killing;
}

bool StepMachine::lease_is_live(Moment now) const {
  return lease_until_ && now.boot < *lease_until_;
}

void StepMachine::tick(Moment now) {
  const bool retry_due = retry_at_ && now.boot >= *retry_at_;
  if (state_ == State::recording && retry_due) return record_exit(now);
  if (state_ == State::recording_epilog && retry_due) return record_epilog(now);
  if (state_ == State::prolog || state_ == State::epilog) {
    if (now.boot < *program_until_) return;
    // It is stuck in the kernel, and so not to be waited for.
    if (program_killed_) return program_ended({.code = 0, .signal = SIGKILL}, now);
    program_timed_out_ = true;
    return kill_program(now);
  }
  if (state_ == State::killing && retry_due) {
    if (stuck_at_ && now.boot >= *stuck_at_) record_stuck(now);
    return kill_everything(now);
  }
  if (state_ == State::cancelling && retry_due) return kill_again(now);
  if (state_ == State::gated && retry_due) {
    if (!dir_.has(Record::intent)) return cancel_start("its directory was removed", now);
    retry_at_ = now.boot + kOrphanCheck;
  }

  obey_lease(now);
  if (state_ == State::running && stop_at_ && now.boot >= *stop_at_) {
    stop_at_.reset();
    stop_processes();
  }
  if (state_ == State::running && limit_at_ && now.boot >= *limit_at_) {
    timed_out_ = true;
    return stop(false, std::nullopt, now);
  }
  if (const auto due = warn_at(); state_ == State::running && due && now.boot >= *due) warn(now);
  if (state_ != State::stopping) return;
  if (term_at_ && now.boot >= *term_at_) terminate();
  if (kill_at_ && now.boot >= *kill_at_) kill_everything(now);
}

std::optional<BootTime> StepMachine::next_deadline() const {
  std::optional<BootTime> earliest;
  switch (state_) {
    case State::idle:
    case State::finished: break;
    case State::prolog:
    case State::epilog: earliest = program_until_; break;
    case State::gated: earliest = retry_at_; break;
    case State::running:
      keep_earlier(earliest, limit_at_);
      keep_earlier(earliest, warn_at());
      keep_earlier(earliest, stop_at_);
      if (settings_.leased && !frozen_) keep_earlier(earliest, lease_until_);
      break;
    case State::stopping:
      keep_earlier(earliest, kill_at_);
      keep_earlier(earliest, term_at_);
      if (settings_.leased && !frozen_) keep_earlier(earliest, lease_until_);
      break;
    case State::cancelling:
    case State::killing:
    case State::recording:
    case State::recording_epilog: earliest = retry_at_; break;
  }
  return earliest;
}

}  // namespace ares::node
