// Starts one task of a step as a child of the step host, which is the job's user already. Called by
// TaskGroup; single-threaded.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "os/fd.h"

namespace ares::stepd {

struct TaskStart {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // NAME=value
  std::string directory;
  std::string input, output, errors;  // files; empty: the pipes below, or nothing for the input
  bool append = false;
  bool has_input = false;
  bool pty = false;
  std::uint32_t window_size = 0;  // columns << 16 | rows, of the terminal
  std::uint32_t umask = 022;
  IntervalSet cpus;                // that it is bound to; empty: those of the host
  IntervalSet memory_nodes{};      // NUMA nodes of its memory; empty: those of the host
  bool only_memory_nodes = false;  // never others
  // Run as the user before and after the program; empty: none.
  std::string prolog, epilog;
  std::string group;             // its own control group, which it enters; empty: that of the host
  int passed = -1;               // an open descriptor that the program inherits
  bool slurm_variables = false;  // SLURM_TASK_PID, too
};

struct StartedTask {
  pid_t pid = 0;
  // Our ends. With a terminal `output` is its master, for both directions. Of
  // `output` none where a file is used.
  os::Fd input, output, errors;
};

// What the child itself cannot do, such as to open a file or to execute the program, it says in
// `errors`, and exits with 1, or with 126 or 127 as a shell does.
Result<StartedTask> start_task(TaskStart start);

}  // namespace ares::stepd
