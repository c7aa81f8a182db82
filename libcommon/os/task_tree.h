// TaskTree: the processes of one attempt, from a gated child to the last descendant.
// Owned by aresstepd, which is single-threaded: it forks without exec. Not thread-safe.
//
// Where root allows it, everything runs in a pid namespace of its own whose init dies with this process, so that not even a KILL of the
// supervisor leaves anything behind. Elsewhere this process becomes the reaper of all descendants and finds them in /proc.
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

// Whether pid namespaces can be made here: then a process tree dies with its supervisor, and can be frozen as a whole.
// Forks a child that ends at once; call it before starting threads.
bool can_isolate_processes();

class TaskTree {
 public:
  // What the task does once its gate is open: becomes the user and executes the script. Runs in the child; returns only if that
  // failed: the code to exit with and the reason in words.
  struct BodyFailure {
    int exit_code = 1;
    std::string why;
  };
  using Body = std::function<BodyFailure()>;

  struct TaskEnd {  // of the script itself
    int code = 0;
    int signal = 0;
    std::string detail;  // why it could not even be executed
  };
  struct Gone {  // nothing is left
    Duration user_cpu{}, system_cpu{};
    Bytes max_rss{};
    bool out_of_memory = false;
  };
  struct Events {
    std::optional<TaskEnd> task_end;
    std::optional<Gone> gone;
  };

  // Whether everything runs in a pid namespace of its own.
  enum class Isolation {
    none,
    wanted,    // where it can be had
    required,  // else nothing is started: of a leased attempt, which must be stopped for certain when its lease ends
  };

  // The cgroup, if any, is made by spawn_gated() and holds every process from before the gate opens.
  TaskTree(Body body, Isolation isolation, std::optional<Cgroup> cgroup);
  ~TaskTree();  // kills what is left
  TaskTree(const TaskTree&) = delete;
  TaskTree& operator=(const TaskTree&) = delete;

  Result<pid_t> spawn_gated();  // pid of the first process, as seen from here
  void open_gate();
  void signal(int signal, bool task_only);
  bool freeze();
  // Whether a control group stops them; else signals do, which init or we send.
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
  bool isolated_;  // or is to be
  std::optional<Cgroup> cgroup_;
  pid_t first_ = 0;  // init of the namespace, or the task itself
  Fd control_;       // to init
  Fd gate_;          // one byte opens it, its end closes it for ever
  Fd failure_;       // what the body failed with
  bool killing_ = false;
  bool task_ended_ = false;
  bool gone_ = false;
  std::optional<TaskEnd> early_end_;  // came while waiting for another answer
};

}  // namespace ares::os
