// The machine's clocks and boot id. The node side reads clocks only through these functions.
// Pure system calls; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace ares::os {

Time wall_now();
BootTime boot_now();  // also advances while the machine sleeps

Result<std::string> boot_id();  // of the running kernel
Result<std::string> fresh_uuid();

// Start time of the process (field 22 of /proc/PID/stat). With the pid it identifies a process until the next boot; 0 if gone.
std::uint64_t process_start_ticks(std::int64_t pid);

}  // namespace ares::os
