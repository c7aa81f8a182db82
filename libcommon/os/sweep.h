// Cleaning up after a supervisor that was killed where its processes could not die with it.
// Any thread; effects reach only processes that this user may signal.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace ares::os {

// Waits until the pid namespace whose init is `init` has no process left; init's own death comes last, because the kernel first ends and
// reaps everybody else in it. True also for a number that belongs to nobody, or to a process that is no such init. False: `at_most`
// has passed (processes in uninterruptible sleep cannot be killed).
bool namespace_gone(pid_t init, std::chrono::milliseconds at_most);

// KILLs every process that has exactly this `NAME=value` in the environment it was started with, until none is found.
void kill_marked(const std::string& variable);

// Kills what is in these control groups and removes them; `directories` is Cgroup::directories().
void remove_groups(const std::string& directories);

}  // namespace ares::os
