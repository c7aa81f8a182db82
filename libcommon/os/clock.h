// What the machine's clocks and its boot say. The only place where the node side looks at them.
// Pure system calls; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace ares::os {

Time wall_now();
BootTime boot_now();  // counts through suspend

Result<std::string> boot_id();  // of the running kernel
Result<std::string> fresh_uuid();

// Field 22 of /proc/PID/stat, which together with the pid names a process for as long as the machine is up; 0 if it is gone.
std::uint64_t process_start_ticks(std::int64_t pid);

}  // namespace ares::os
