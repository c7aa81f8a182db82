// How a step of a StepMachine ends: it is stopped, what is left of it is killed, and its end is recorded.
#include <algorithm>
#include <csignal>

#include "base/clip.h"
#include "node/step.h"

namespace ares::node {
namespace {

// Interval between retries: of writing an end for which the disk had no space, and of killing
// processes that have not died.
constexpr Duration kRetry = std::chrono::seconds(1);

// A program that was killed and has not ended after this long is given up.
constexpr Duration kProgramDies = std::chrono::seconds(10);

// Of the time from the warning of a job that saves its state to KILL, the last 1/4 is after TERM.
constexpr int kTermShare = 4;

}  // namespace

// TERM, `wait`, KILL. A repeated request can shorten the wait, not lengthen it. A frozen attempt is
// killed without TERM: its lease has expired, so another attempt may already run in its place.
void StepMachine::stop(bool immediately, std::optional<Seconds> grace, Moment now) {
  const Seconds wait = grace.value_or(settings_.kill_wait);
  const bool only_holds = !settings_.runs_script && !tree_.runs_steps();
  if (immediately || frozen_ || only_holds) return kill_everything(now);
  const BootTime kill_at = now.boot + wait;
  const bool preempted = grace.has_value();  // only preemptions come with one
  const auto announce = [&] {
    tree_.announce_end(now.wall + wait, timed_out_  ? "TIMEOUT"
                                        : preempted ? "PREEMPTED"
                                                    : "CANCELLED");
  };
  const BootTime last_part = kill_at - Duration(wait) / kTermShare;
  if (state_ == State::stopping) {
    if (kill_at_ && *kill_at_ <= kill_at) return;
    kill_at_ = kill_at;
    if (term_at_) term_at_ = std::min(*term_at_, last_part);
    return announce();
  }
  state_ = State::stopping;
  kill_at_ = kill_at;
  announce();
  if (suspended_) tree_.thaw();  // so that it can handle TERM
  suspended_ = false;
  stop_at_.reset();
  tree_.signal(SIGCONT, SignalTo::all);
  // The warning comes in place of TERM where there is time for both. A job that saves its state then has
  // most of the time for that.
  if (!timed_out_ && settings_.warning && wait > settings_.kill_wait) {
    term_at_ = kill_at - settings_.kill_wait;
    return warn(now);
  }
  if (!timed_out_ && settings_.warning && settings_.checkpoints) {
    term_at_ = last_part;
    return warn(now);
  }
  terminate();
}

void StepMachine::terminate() {
  term_at_.reset();
  tree_.signal(SIGTERM, SignalTo::all);
}

void StepMachine::warn(Moment now) {
  if (state_ == State::running) {
    warned_ = true;
    const Duration left = *limit_at_ - now.boot + settings_.kill_wait;
    tree_.announce_end(now.wall + left, "TIMEOUT");
  }
  send_warning();
}

void StepMachine::send_warning() {
  const WarningSignal& warning = *settings_.warning;
  if (warning.batch_only && !settings_.runs_script) return;
  tree_.signal(warning.signal, warning.batch_only ? SignalTo::batch_script : SignalTo::others);
}

std::optional<BootTime> StepMachine::warn_at() const {
  if (!settings_.warning || warned_ || !limit_at_) return std::nullopt;
  return *limit_at_ - settings_.warning->before;
}

void StepMachine::kill_everything(Moment now) {
  if (!settings_.runs_script) task_exit_ = ExitStatus{};
  if (state_ != State::killing) stuck_at_ = now.boot + settings_.unkillable_after;
  state_ = State::killing;
  kill_again(now);
}

void StepMachine::kill_again(Moment now) {
  retry_at_ = now.boot + kRetry;
  tree_.kill_all();
}

// The gate never opens. The record `cancelled` informs users and aresd's report; `started` without
// `go` already proves that no user code ran.
void StepMachine::cancel_start(const std::string& why, Moment now,
                               const std::string& node_problem) {
  (void)dir_.create(Record::cancelled, encode(CancelledRecord{settings_.fence, now.wall, clip(why),
                                                              clip(node_problem)}));
  epilog_.node_problem = clip(node_problem);
  const bool wait = owes_epilog_ && state_ == State::gated;
  tree_.kill_all();
  if (!owes_epilog_) return finish();
  if (!wait) return clean_up(now);
  state_ = State::cancelling;
  retry_at_ = now.boot + kRetry;
}

// The end of the attempt is recorded already: the node is busy until the epilog has ended, the job
// is not.
void StepMachine::clean_up(Moment now) {
  std::optional<ExitStatus> exit;
  if (running_since_) exit = result_.exit;
  state_ = State::epilog;
  program_killed_ = program_timed_out_ = false;
  program_until_ = now.boot + *settings_.epilog_timeout;
  if (Status begun = programs_->start_epilog(exit); !begun) {
    epilog_.node_problem = clip("epilog: " + begun.error().message);
    return record_epilog(now);
  }
  if (running_since_) notify_(StepNotice::running);  // a hint that `exit` is there
}

void StepMachine::kill_program(Moment now) {
  if (!program_killed_) program_until_ = now.boot + kProgramDies;
  program_killed_ = true;
  programs_->kill();
}

void StepMachine::program_ended(const ProgramEnd& end, Moment now) {
  if (state_ != State::prolog && state_ != State::epilog) return;
  const bool is_prolog = state_ == State::prolog;
  const std::string name = is_prolog ? "prolog" : "epilog";
  const Seconds timeout = is_prolog ? *settings_.prolog_timeout : *settings_.epilog_timeout;
  std::string problem;
  if (program_timed_out_)
    problem = name + " did not end within " + std::to_string(timeout.count()) + " s";
  else if (!end.succeeded() && !start_cancelled_)
    problem = name + " " + describe(end);
  program_until_.reset();
  if (!is_prolog) {
    if (!problem.empty()) epilog_.node_problem = problem;
    return record_epilog(now);
  }
  if (!problem.empty()) return cancel_start(problem, now, problem);
  if (start_cancelled_) return cancel_start("cancelled before it was started", now);
  (void)spawn_task(now);  // on failure the start is cancelled
}

void StepMachine::task_ended(const ExitStatus& exit, std::string detail, Moment now) {
  if (task_exit_ || !has_processes()) return;
  if (state_ == State::gated) return cancel_start("the task died at its gate", now);
  if (!settings_.runs_script) return;  // the allocation is held until the controller ends it
  task_exit_ = exit;
  if (result_.detail.empty()) result_.detail = std::move(detail);
  // The script often ends at once when it is told to; its steps have the time that remains.
  if (state_ == State::stopping && tree_.runs_steps()) return;
  kill_everything(now);  // processes that the script left behind
}

void StepMachine::steps_ended(Moment now) {
  const bool nothing_left = task_exit_ || !settings_.runs_script;
  if (state_ == State::stopping && nothing_left) kill_everything(now);
}

void StepMachine::tree_gone(const Usage& usage, bool out_of_memory, Moment now) {
  if (state_ == State::cancelling) return clean_up(now);
  if (!has_processes()) return;
  if (state_ == State::gated) return cancel_start("the task died at its gate", now);
  result_.exit = task_exit_.value_or(ExitStatus{.code = 0, .signal = SIGKILL});
  result_.exit.out_of_memory = out_of_memory;
  result_.exit.timed_out = timed_out_;
  result_.usage = usage;
  result_.fence = settings_.fence;
  result_.started_at = running_since_->wall;
  result_.ended_at = now.wall;
  record_exit(now);
}

void StepMachine::record_exit(Moment now) {
  state_ = State::recording;
  // `exit` must fit into the reserved space, and its text is sent with every report.
  result_.detail = clip(result_.detail);
  if (Status written = dir_.create(Record::exit, encode(result_));
      !written && written.error().code != ErrorCode::already_exists) {
    retry_at_ = now.boot +
                kRetry;  // the disk is full: the end must not be lost, keep the lock and try again
    return;
  }
  tree_.remove_remains();
  owes_epilog_ ? clean_up(now) : finish();
}

// The attempt goes on ending: the node gets no more jobs until it has.
void StepMachine::record_stuck(Moment now) {
  if (dir_.create(Record::stuck, encode(StuckRecord{now.wall, clip(tree_.survivors())})))
    notify_(StepNotice::running);  // a hint to read the records
  stuck_at_.reset();
}

void StepMachine::record_epilog(Moment now) {
  state_ = State::recording_epilog;
  epilog_.at = now.wall;
  if (Status written = dir_.create(Record::epilog, encode(epilog_));
      !written && written.error().code != ErrorCode::already_exists) {
    retry_at_ = now.boot + kRetry;
    return;
  }
  finish();
}

void StepMachine::finish() {
  state_ = State::finished;
  notify_(StepNotice::finished);
}

}  // namespace ares::node
