// What a running task has used so far, as far as /proc tells it: its first process, and those of its
// descendants that have been waited for. Any thread.
#pragma once

#include <sys/types.h>

#include <optional>

#include "steps/request.h"

namespace ares::stepd {

// `pid` is a child of this process; /proc may be that of an outer namespace, where it has another number.
// None: it has ended, or the kernel does not tell.
std::optional<steps::TaskEnd> usage_of(pid_t pid);

}  // namespace ares::stepd
