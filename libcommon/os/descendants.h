// Descendants of this process, from /proc. Orphans are found only if this process is a subreaper
// (PR_SET_CHILD_SUBREAPER). Any thread.
#pragma once

#include <sys/types.h>

#include <set>

namespace ares::os {

std::set<pid_t> descendants();  // without zombies

// Processes that are forked meanwhile are found by the next call. `except`: a process that gets no signal.
void signal_descendants(int signal, pid_t except = 0);

}  // namespace ares::os
