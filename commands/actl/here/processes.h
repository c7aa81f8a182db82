// `listpids`, `listjobs`, `liststeps`: the processes of jobs on this machine, known by the variables with which
// they were started. Reads /proc, of processes that the caller may look into; any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace ares::actl {

struct JobProcess {
  pid_t pid = 0;
  std::string node;         // name of the node
  std::string job;          // number of the job, of an array task its own
  std::string array_task;   // "12_3"; empty: of no array
  std::string step;         // "0", "batch"
  std::string local, rank;  // of a task that is this process; "-" of another process
};

// By job, step and process. `proc` is /proc, in tests another directory.
std::vector<JobProcess> job_processes(const std::string& proc = "/proc");

// Those of "12", "12.0", "12_3", "12_3.batch", or of an array 12; "" and "*" are all. `node`: only there; "" is
// any. invalid_argument: it is not the name of a job or step.
Result<std::vector<JobProcess>> processes_of(std::vector<JobProcess> all, const std::string& wanted,
                                             const std::string& node);

}  // namespace ares::actl
