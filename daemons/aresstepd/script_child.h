// For a first process of a job that has something to do after the script: it waits for the script
// in a child. Single-threaded.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "base/result.h"
#include "base/time.h"

namespace ares::stepd {

// Returns in a child of this process, which is to execute the script. This process waits for it
// with all signals blocked, calls `after`, and ends as the child did. Signals for the script find
// the child; see os::script_of(). An error: nothing was done.
Status continue_as_child(const std::function<void()>& after);

// The wait status of the child; none if it has not ended by then. Precondition: CHLD is blocked.
std::optional<int> wait_for_child(pid_t child, std::optional<BootTime> deadline);

}  // namespace ares::stepd
