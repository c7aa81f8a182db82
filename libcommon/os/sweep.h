// Cleanup after a supervisor that was killed where its processes did not die with it.
// Any thread; reaches only processes that this user may signal.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace ares::os {

// `start_ticks` is a process's os::process_start_ticks(), because its pid may have been reused; 0 = not known.

// Waits until the pid namespace whose init is `init` has no process left. init is reaped last: the kernel first
// ends and reaps all other processes of the namespace. True also if `init` does not exist, or if its pid has been
// reused, as for a process of our own namespace. False: `at_most` has passed (processes in uninterruptible sleep cannot be killed).
bool namespace_gone(pid_t init, std::uint64_t start_ticks, std::chrono::milliseconds at_most);

// Whether a process has ended, reaped or not.
bool process_gone(pid_t pid, std::uint64_t start_ticks);

// Kills all processes with exactly this `NAME=value` in their initial environment, until none is left.
void kill_marked(const std::string& variable);

// Kills the processes in these groups, frozen ones too (in groups of v2, and of the freezer of v1);
// `directories` is Cgroup::directories().
void kill_groups(const std::string& directories);

// The same, and removes the groups.
void remove_groups(const std::string& directories);

// Removes the groups in `parent` that supervisors made which do not exist any more: the names are ares.….PID. A group
// with a process in it stays: it belongs to an attempt, whose records name it.
void remove_left_groups(const std::string& parent);

}  // namespace ares::os
