// StepMachine: state machine of aresstepd. Supervises one attempt on one node: elected by
// `started`, commits user code by `go`, ends with `exit`. Owned by aresstepd's only thread (or a
// simulation). Reads no clock; its I/O is a directory and a process tree behind interfaces.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/boxed.h"
#include "node/moment.h"
#include "node/records.h"
#include "node/site_programs.h"
#include "node/step_message.h"

namespace ares::node {

// Which processes of an attempt get a signal.
enum class SignalTo : std::uint8_t {
  all,
  batch_script,  // the process that runs the script, not what it started
  others,        // everything but that process
};

// The processes of one attempt. Calls take effect at once; ends are announced to StepMachine by
// task_ended() and tree_gone(), never from within a call.
class ProcessTree {
 public:
  virtual ~ProcessTree() = default;

  // Forks the task, which waits at its gate and dies if the gate's owner dies.
  virtual Result<TaskRecord> spawn_gated() = 0;
  virtual void open_gate() = 0;
  virtual void signal(std::int32_t signal, SignalTo to) = 0;
  // Tells the processes by when they will be killed, and why ("TIMEOUT"): the file that
  // ARES_DEADLINE_FILE names. Without effect where there is no such file.
  virtual void announce_end(Time, std::string_view) {}
  virtual void withdraw_end() {}  // it goes on after all
  // Stops every process; false if that is not possible on this machine. May be called again.
  virtual bool freeze() = 0;
  // Whether the processes cannot notice freeze() and only thaw() resumes them (cgroup freezer).
  virtual bool has_freezer() const { return true; }
  virtual void thaw() = 0;
  // A second guardian stops all processes shortly after that time, unless a later call moves it.
  // Without effect where there is no guardian.
  virtual void guard_until(BootTime) {}
  // Whether the guardian has stopped them since the last thaw().
  virtual bool stopped_by_guardian() const { return false; }
  // Sends KILL to all processes, frozen or not. tree_gone() follows once none is left; may be
  // called again.
  virtual void kill_all() = 0;
  // Whether steps of the job may have processes beside the task. steps_ended() tells their end.
  virtual bool runs_steps() const { return false; }
  // Removes what the processes left on the node, when the last has ended and `exit` is recorded.
  virtual void remove_remains() {}
  // The processes that are left, for an operator: "4711 (python3, D)".
  virtual std::string survivors() const { return {}; }
};

struct StepSettings {
  AttemptKey attempt;
  Fence fence;
  // On the first node. On the others the task does nothing but hold the allocation, and what the job's
  // steps start there are the processes that count.
  bool runs_script = true;
  bool leased = false;
  std::optional<Seconds>
      time_limit;  // counts from go on the boot clock; only where the script runs
  Seconds kill_wait{30};
  // From the first KILL until processes that are left are a problem of the node.
  Seconds unkillable_after{60};
  Boxed<WarningSignal> warning;
  bool checkpoints = false;  // the job saves its state when it gets the warning (asub --checkpoint)
  // How long the site's programs may run; none: there is no such program.
  std::optional<Seconds> prolog_timeout, epilog_timeout;
  StartedRecord self;  // this supervisor
};

// Settings from the controller's launch message. The caller sets `self` and the time-outs.
StepSettings settings_of(const LaunchSpec& launch);

class StepMachine {
 public:
  // `notify` must not call back into the machine. `programs` may be null if the settings have no
  // time-outs for them.
  StepMachine(StepSettings settings, AttemptDir& dir, ProcessTree& tree,
              std::function<void(StepNotice)> notify, SitePrograms* programs = nullptr);

  // Checks the intent, takes the lock, creates `started`, runs the prolog, forks the gated task,
  // creates `task`. An error says why nothing was started; unless an epilog has to run, finished()
  // is then true, the process exits, and the records determine the phase. already_exists: the
  // attempt has another supervisor.
  // `prepare` is called once this supervisor is elected, before anything is forked; its error
  // becomes the reason in the record `cancelled`.
  Status start(Moment now, const std::function<Status()>& prepare = {});

  void receive(const StepCommand& command, Moment now);
  void task_ended(const ExitStatus& exit, std::string detail,
                  Moment now);  // the batch script ended
  void tree_gone(const Usage& usage, bool out_of_memory,
                 Moment now);                             // no process of the attempt is left
  void program_ended(const ProgramEnd& end, Moment now);  // the prolog or the epilog
  void steps_ended(Moment now);                           // ProcessTree::runs_steps() is false now
  void tick(Moment now);

  std::optional<BootTime> next_deadline() const;  // when tick() is due
  bool finished() const { return state_ == State::finished; }
  bool frozen() const { return frozen_; }
  bool suspended() const { return suspended_; }
  // The newest suspension that has stopped the processes; 0: none has, or they run again.
  Lsn stopped_by() const;
  bool user_code_may_run() const { return state_ == State::running || state_ == State::stopping; }

 private:
  enum class State {
    idle,
    prolog,
    gated,
    cancelling,  // the task at the gate was killed, and the epilog has to run
    running,
    stopping,
    killing,
    recording,
    epilog,
    recording_epilog,
    finished
  };

  void handle(const StepGo& command, Moment now);
  void handle(const StepKill& command, Moment now);
  void handle(const StepSignal& command, Moment now);
  void handle(const StepSetLimit& command, Moment now);
  void handle(const StepRenewLease& command, Moment now);
  void handle(const StepSetSuspended& command, Moment now);
  // For the supervisor, which serves `acheckpoint commit`.
  void handle(const StepCheckpointKnown&, Moment) {}
  void suspend(Seconds grace, Moment now);
  void stop_processes();
  void resume(Moment now);
  // Whether the batch script waits at its gate, or it or what it started may run.
  bool has_processes() const;
  bool lease_is_live(Moment now) const;
  void obey_lease(Moment now);
  Status run_prolog(Moment now);
  Status spawn_task(Moment now);
  void stop(bool immediately, std::optional<Seconds> grace, Moment now);
  void warn(Moment now);
  void send_warning();
  void terminate();
  std::optional<BootTime> warn_at() const;
  void kill_everything(Moment now);
  void kill_again(Moment now);
  void kill_program(Moment now);
  void cancel_start(const std::string& why, Moment now, const std::string& node_problem = {});
  void record_exit(Moment now);
  void clean_up(Moment now);
  void record_epilog(Moment now);
  void record_stuck(Moment now);
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
  std::optional<BootTime> term_at_;  // stopping, warned: when TERM is due
  std::optional<BootTime> kill_at_;
  std::optional<BootTime> retry_at_;
  std::optional<BootTime> stuck_at_;  // killing: when the processes that are left are recorded
  Lsn last_signal_, last_limit_, last_suspend_;
  std::optional<ExitStatus> task_exit_;
  ExitRecord result_;
  bool timed_out_ = false;
  bool warned_ = false;  // of the end by the time limit as it is now

  SitePrograms* programs_;
  bool owes_epilog_ = false;
  bool start_cancelled_ = false;           // while the prolog ran
  std::optional<BootTime> program_until_;  // when the program is killed, or given up
  bool program_killed_ = false;
  bool program_timed_out_ = false;
  EpilogRecord epilog_;
};

}  // namespace ares::node
