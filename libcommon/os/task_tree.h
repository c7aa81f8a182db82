// TaskTree: the processes of one attempt, from a gated child to the last descendant.
// Owned by aresstepd, which is single-threaded: it forks without exec. Not thread-safe.
//
// Where possible, everything runs in its own pid namespace, whose init dies with this process, so that
// even a KILL of the supervisor leaves no process behind. Otherwise this process becomes the subreaper
// of all descendants and finds them in /proc.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "os/cgroup.h"
#include "os/fd.h"
#include "os/group_use.h"
#include "os/init_process.h"
#include "os/namespace.h"

namespace ares::os {

class TaskTree {
 public:
  // What the task does after its gate opens: becomes the user and executes the script. Runs in the
  // child, with the order of spawn_gated(). Returns only on failure, with the exit code and the
  // reason.
  struct BodyFailure {
    int exit_code = 1;
    std::string why;
  };
  using Body = std::function<BodyFailure(const std::string& order)>;

  // A process of the attempt beside the task, such as the one that runs its steps. It starts with the
  // order of the task and a descriptor, and is killed with its parent.
  using Beside = std::function<void(const std::string& order, int fd)>;

  struct TaskEnd {  // of the batch script
    int code = 0;
    int signal = 0;
    std::string detail;  // why it could not be executed
  };
  struct Gone {  // no process is left
    Duration user_cpu{}, system_cpu{};
    Bytes max_rss{};
    DiskUse disk;  // of processes that a parent waited for, or that lived at kill_all()
    bool out_of_memory = false;
  };
  struct Events {
    std::optional<TaskEnd> task_end;
    std::optional<Gone> gone;
    std::optional<int> helper_end;  // wait status of the helper
    bool beside_ended = false;      // the process beside the task
  };
  enum class To { all, task, others };  // than the task

  // The pid namespace that everything runs in.
  struct Isolation {
    NamespaceKind kind = NamespaceKind::none;
    // If it cannot be made, nothing starts: for leased attempts, which must be stoppable reliably when
    // their lease ends. Other attempts then run without one.
    bool required = false;
    Ipc ipc = Ipc::own;
  };

  // spawn_gated() creates the cgroup, if any. It contains every process before the gate opens.
  TaskTree(Body body, Isolation isolation, std::optional<Cgroup> cgroup);
  ~TaskTree();  // kills all remaining processes
  TaskTree(const TaskTree&) = delete;
  TaskTree& operator=(const TaskTree&) = delete;

  // Before prepare() and spawn_gated().
  void set_beside(Beside beside) { beside_ = std::move(beside); }

  // Makes the namespace, its first process and the control groups, which that process enters: what of
  // spawn_gated() needs neither limits nor an order. The cgroup comes from Cgroup::plan_ahead(). After
  // an error nothing is left, and this object is of no more use.
  Status prepare();
  // After prepare(), before spawn_gated(). `required` as in Isolation.
  void assign(bool required, Limits limits);

  // Returns the pid of the first process in this namespace. `order` is passed to the body.
  Result<pid_t> spawn_gated(const std::string& order = {});
  void open_gate();
  // Starts the process beside the task, which runs then; one at a time. It gets a copy of `fd`. False if
  // it could not be started now.
  bool start_beside(int fd);
  // False if it did not reach the task: init does not run and takes no more commands. Signals to all
  // processes are sent past init then. Does not wait for longer than a moment.
  bool signal(int signal, To to);
  bool freeze();
  // Whether a control group stops the processes; otherwise signals do, sent by init or by us.
  bool has_freezer() const { return cgroup_ && cgroup_->can_freeze(); }
  void thaw();
  // Init stops everything at that time, also if this process is stopped. A later call moves the time.
  // Without effect without a namespace.
  void stop_at(BootTime when);
  bool stopped_by_init() const { return stopped_by_init_; }  // since the last thaw()
  void kill_all();
  // Processes of the attempt that exist, with name and state: "4711 (python3, D), 4712 (tee, S)".
  std::string survivors() const;
  bool isolated() const { return kind_ != NamespaceKind::none; }
  std::string groups() const { return cgroup_ ? cgroup_->directories() : std::string(); }
  // Why spawn_gated() made no namespace although one was asked for; empty if it did.
  const std::string& why_not_isolated() const { return why_not_isolated_; }

  // A child of this process that is not of the attempt, at most one at a time: collect() tells its
  // end, and does not count what it used.
  void expect_helper(pid_t pid) { helper_ = pid; }

  // What ended since the last call. Call it after SIGCHLD and whenever control_fd() is readable.
  Events collect();
  // -1 without a namespace, and when init has ended.
  int control_fd() const { return control_.get(); }

 private:
  // The child's ends of the channels to it.
  struct ChildEnds {
    Fd control, gate, failure;
  };
  struct Birth {
    bool in_cgroup = false;  // already in its group of the unified hierarchy
  };

  Status make_first();
  Result<ChildEnds> make_channels();
  Result<Birth> fork_first(ChildEnds& ends);
  [[noreturn]] void run_task(const ChildEnds& ends, const std::string& order);
  [[noreturn]] void run_beside(const std::string& order, int fd);
  bool tell_init(InitPacket::What what, int value = 0);
  bool stop_by_init();
  void note(const InitPacket& packet);
  void read_control(Events& events);
  std::string read_failure();

  Body body_;
  Beside beside_;
  Isolation isolation_;
  NamespaceKind kind_;  // before spawn_gated(): what to try
  std::string why_not_isolated_;
  std::optional<Cgroup> cgroup_;
  bool prepared_ = false;
  Limits limits_;      // of a prepared tree
  std::string order_;  // of the task
  pid_t first_ = 0;    // init of the namespace, or the task itself
  Fd control_;         // to init
  Fd gate_;            // one byte opens it; closing it keeps it closed for ever
  Fd failure_;         // the reason why the body failed
  Fd stop_timer_;      // set by us; init waits for it
  bool stopped_by_init_ = false;
  bool frozen_ = false;       // by the control group, and with the rest init
  bool init_silent_ = false;  // it has not taken the last command
  bool killing_ = false;
  DiskUse disk_before_kill_;
  bool task_ended_ = false;
  pid_t beside_pid_ = 0;       // without a namespace
  bool beside_ended_ = false;  // and not yet collected
  bool gone_ = false;
  pid_t helper_ = 0;
  Duration helpers_user_cpu_{}, helpers_system_cpu_{};
  DiskUse helpers_disk_;
  std::optional<TaskEnd> reported_end_;  // by init, and not yet collected
};

}  // namespace ares::os
