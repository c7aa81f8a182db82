// StepMachine: state machine of aresstepd. Supervises one attempt on one node: elected by
// `started`, commits user code by `go`, ends with `exit`. Owned by aresstepd's only thread (or a
// simulation). Reads no clock; its I/O is a directory and a process tree behind interfaces.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "node/moment.h"
#include "node/records.h"
#include "node/step_message.h"

namespace ares::node {

// The processes of one attempt. Calls take effect at once; ends are announced to StepMachine by
// task_ended() and tree_gone(), never from within a call.
class ProcessTree {
 public:
  virtual ~ProcessTree() = default;

  // Forks the task, which waits at its gate and dies if the gate's owner dies.
  virtual Result<TaskRecord> spawn_gated() = 0;
  virtual void open_gate() = 0;
  // To every process of the attempt, or only to the batch script itself.
  virtual void signal(std::int32_t signal, bool batch_only) = 0;
  // Stops every process; false if that is not possible on this machine. May be called again.
  virtual bool freeze() = 0;
  // Whether the processes cannot notice freeze() and only thaw() resumes them (cgroup freezer).
  virtual bool has_freezer() const { return true; }
  virtual void thaw() = 0;
  // Sends KILL to all processes, frozen or not. tree_gone() follows once none is left; may be
  // called again.
  virtual void kill_all() = 0;
};

struct StepSettings {
  AttemptKey attempt;
  Fence fence;
  bool runs_task = true;  // false on nodes of rank > 0: they only hold the allocation,
                          // and the job starts user code there by other means
  bool leased = false;
  std::optional<Seconds> time_limit;  // counts from go on the boot clock; only where a task runs
  Seconds kill_wait{30};
  StartedRecord self;  // this supervisor
};

// Settings from the controller's launch message. The caller sets `self`.
StepSettings settings_of(const LaunchSpec& launch);

class StepMachine {
 public:
  // `notify` must not call back into the machine.
  StepMachine(StepSettings settings, AttemptDir& dir, ProcessTree& tree,
              std::function<void(StepNotice)> notify);

  // Checks the intent, takes the lock, creates `started`, forks the gated task, creates `task`. An
  // error says why nothing was started; finished() is then true, the process exits, and the records
  // determine the phase. already_exists: the attempt has another supervisor.
  // `prepare` is called once this supervisor is elected, before anything is forked; its error
  // becomes the reason in the record `cancelled`.
  Status start(Moment now, const std::function<Status()>& prepare = {});

  void receive(const StepCommand& command, Moment now);
  void task_ended(const ExitStatus& exit, std::string detail,
                  Moment now);  // the batch script ended
  void tree_gone(const Usage& usage, bool out_of_memory,
                 Moment now);  // no process of the attempt is left
  void tick(Moment now);

  std::optional<BootTime> next_deadline() const;  // when tick() is due
  bool finished() const { return state_ == State::finished; }
  bool frozen() const { return frozen_; }
  bool suspended() const { return suspended_; }
  bool user_code_may_run() const { return state_ == State::running || state_ == State::stopping; }

 private:
  enum class State { idle, gated, running, stopping, killing, recording, finished };

  void handle(const StepGo& command, Moment now);
  void handle(const StepKill& command, Moment now);
  void handle(const StepSignal& command, Moment now);
  void handle(const StepSetLimit& command, Moment now);
  void handle(const StepRenewLease& command, Moment now);
  void handle(const StepSetSuspended& command, Moment now);
  void suspend(Seconds grace, Moment now);
  void stop_processes();
  void resume(Moment now);
  bool lease_is_live(Moment now) const;
  void stop(bool immediately, Seconds wait, Moment now);
  void kill_everything(Moment now);
  void cancel_start(const std::string& why, Moment now);
  void record_exit(Moment now);
  void finish();

  StepSettings settings_;
  AttemptDir& dir_;
  ProcessTree& tree_;
  std::function<void(StepNotice)> notify_;

  State state_ = State::idle;
  bool frozen_ = false;                  // because its lease expired
  bool suspended_ = false;               // by command of the controller
  std::optional<Moment> running_since_;  // when the gate opened
  std::optional<BootTime> lease_until_;
  std::optional<BootTime> limit_at_;  // none while suspended
  std::optional<BootTime> stop_at_;   // suspended, TSTP sent: when STOP is due
  BootTime suspended_since_{};
  Duration suspended_total_{};  // of ended suspensions
  Seconds suspend_grace_{};
  std::optional<BootTime> kill_at_;
  std::optional<BootTime> retry_at_;
  Lsn last_signal_, last_limit_, last_suspend_;
  std::optional<ExitStatus> task_exit_;
  ExitRecord result_;
  bool timed_out_ = false;
};

}  // namespace ares::node
