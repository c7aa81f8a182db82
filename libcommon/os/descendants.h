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

// Processes that are forked meanwhile are found by the next call. `except`: a process that gets no signal.
void signal_descendants(int signal, pid_t except = 0);

}  // namespace ares::os
