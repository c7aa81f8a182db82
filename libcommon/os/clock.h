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

// Field 22 of /proc/PID/stat; 0 if gone. With the pid it identifies a process until the next boot.
std::uint64_t process_start_ticks(std::int64_t pid);

}  // namespace ares::os
