// Descendants of this process, from /proc. Orphans are found only if this process is a subreaper
// (PR_SET_CHILD_SUBREAPER). Any thread.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

namespace ares::os {

std::set<pid_t> descendants();  // without zombies

// "4711 (python3, D), 4712 (tee, S)": name and state as ps shows them; at most a few. `except` is left out.
std::string describe_processes(const std::set<pid_t>& pids, pid_t except = 0);

// Processes that are forked meanwhile are found by the next call. `task`: it gets no signal, nor does
// its script.
void signal_descendants(int signal, pid_t task = 0);

// The name of a first process of a job that does not run the batch script itself but waits for a child
// that does, because something follows the script. That child may do the same.
inline constexpr const char* kWaitsForScript = "ares-task";
// The name of another child of such a process.
inline constexpr const char* kHoldsSession = "ares-pam";
// The process that runs the script of this first process: itself, or such a child.
pid_t script_of(pid_t task);

}  // namespace ares::os
