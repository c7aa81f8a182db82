// Starts aresstepd. A stateless function; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace ares::exec {

inline constexpr int kPassedFd = 3;  // in the started program

// In a session of its own, with an empty environment, `passed` as its descriptor kPassedFd, and its
// output appended to `log`; without one its errors are written to ours. Returns its pidfd; the process
// is a child that the caller has to reap.
Result<os::Fd> spawn(std::vector<std::string> command, int passed, const std::string& log);

}  // namespace ares::exec
