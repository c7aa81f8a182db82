// What lets a daemon act in time on a machine that is short of memory or processors. Each function
// returns whether the kernel permitted it. Forked children inherit neither. Any thread.
#pragma once

namespace ares::os {

// Locks all present and future pages of this process in memory once they are used (mlockall(2) with
// MCL_ONFAULT). Only without a limit on locked memory: with one, a later allocation would fail.
bool lock_memory();

enum class Priority {
  high,      // nice -10
  realtime,  // SCHED_RR with the lowest priority; for a process that sleeps nearly always
};

// Of the calling thread. Keeps another policy or a lower priority that an administrator has set.
bool raise_priority(Priority priority);

}  // namespace ares::os
