// Cleaning up after a supervisor that was killed where its processes could not die with it.
// Any thread; effects reach only processes that this user may signal.
#pragma once

#include <string>

namespace ares::os {

// KILLs every process that has exactly this `NAME=value` in the environment it was started with, until none is found.
void kill_marked(const std::string& variable);

// Kills what is in these control groups and removes them; `directories` is Cgroup::directories().
void remove_groups(const std::string& directories);

}  // namespace ares::os
