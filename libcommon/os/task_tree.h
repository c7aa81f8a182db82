// TaskTree: the processes of one attempt, from a gated child to the last descendant.
// Owned by aresstepd, which is single-threaded: it forks without exec. Not thread-safe.
//
// As root everything runs in its own pid namespace, whose init dies with this process, so that even a KILL of the supervisor
// leaves no process behind. Otherwise this process becomes the subreaper of all descendants and finds them in /proc.
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

namespace ares::os {

// Whether pid namespaces can be created here: then a process tree dies with its supervisor, and all
// of it can be stopped at once. Forks a child that exits at once; call it before starting threads.
bool can_isolate_processes();

class TaskTree {
 public:
  // What the task does after its gate opens: becomes the user and executes the script. Runs in the
  // child. Returns only on failure, with the exit code and the reason.
  struct BodyFailure {
    int exit_code = 1;
    std::string why;
  };
  using Body = std::function<BodyFailure()>;

  struct TaskEnd {  // of the batch script
    int code = 0;
    int signal = 0;
    std::string detail;  // why it could not be executed
  };
  struct Gone {  // no process is left
    Duration user_cpu{}, system_cpu{};
    Bytes max_rss{};
    bool out_of_memory = false;
  };
  struct Events {
    std::optional<TaskEnd> task_end;
    std::optional<Gone> gone;
  };

  // Whether everything runs in its own pid namespace.
  enum class Isolation {
    none,
    wanted,    // if possible
    required,  // else nothing starts; for leased attempts, which must be stoppable reliably when their lease expires
  };

  // spawn_gated() creates the cgroup, if any. It contains every process before the gate opens.
  TaskTree(Body body, Isolation isolation, std::optional<Cgroup> cgroup);
  ~TaskTree();  // kills all remaining processes
  TaskTree(const TaskTree&) = delete;
  TaskTree& operator=(const TaskTree&) = delete;

  Result<pid_t> spawn_gated();  // pid of the first process in this namespace
  void open_gate();
  void signal(int signal, bool task_only);
  bool freeze();
  // Whether a control group stops the processes; otherwise signals do, sent by init or by us.
  bool has_freezer() const { return cgroup_ && cgroup_->can_freeze(); }
  void thaw();
  void kill_all();
  bool isolated() const { return isolated_; }

  // What ended since the last call. Call it after SIGCHLD and whenever control_fd() is readable.
  Events collect();
  int control_fd() const { return control_.get(); }

 private:
  [[noreturn]] void run_init(int control, int gate, int failure);
  [[noreturn]] void run_task(int gate, int failure);
  bool stop_by_init();
  void read_control(Events& events);
  std::string read_failure();

  Body body_;
  Isolation isolation_;
  bool isolated_;  // before spawn_gated(): whether to try
  std::optional<Cgroup> cgroup_;
  pid_t first_ = 0;  // init of the namespace, or the task itself
  Fd control_;       // to init
  Fd gate_;          // one byte opens it; closing it keeps it closed for ever
  Fd failure_;       // the reason why the body failed
  bool killing_ = false;
  bool task_ended_ = false;
  bool gone_ = false;
  std::optional<TaskEnd> early_end_;  // arrived while waiting for another answer
};

}  // namespace ares::os
