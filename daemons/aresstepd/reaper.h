// Reaper: the process above a supervisor that has no pid namespace. As a subreaper it inherits all
// processes that the supervisor leaves, ends them and records that none is left. Used by main();
// single-threaded.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace ares::stepd {

// Runs `supervise` in a child with the pid of this process, and returns the child's exit status after
// all its descendants have ended. Closes `channel`, the child's connection to aresd, in this process.
int run_under_reaper(const std::string& directory, int channel,
                     const std::function<int(pid_t reaper)>& supervise);

}  // namespace ares::stepd
