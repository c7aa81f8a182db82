// The variables that name the process of a script or a task. Called by the process that executes the program, because
// only it knows its number within the job's namespace; single-threaded.
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

namespace ares::stepd {

// ARES_TASK_PID in place of that of another process; with Slurm's names SLURM_TASK_PID, too.
inline void name_this_process(std::vector<std::string>& variables, bool slurms_too) {
  std::erase_if(variables, [](const std::string& variable) {
    return variable.starts_with("ARES_TASK_PID=") || variable.starts_with("SLURM_TASK_PID=");
  });
  const std::string number = std::to_string(::getpid());
  variables.push_back("ARES_TASK_PID=" + number);
  if (slurms_too) variables.push_back("SLURM_TASK_PID=" + number);
}

}  // namespace ares::stepd
