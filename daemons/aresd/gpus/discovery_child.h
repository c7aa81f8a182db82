// Discovery in a process of its own, so that a driver's library that blocks or crashes does not
// take aresd with it. One thread at a time; the caller waits.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "gres/found/found.h"

namespace ares::aresd {

// Runs `command`, or `aresd --discover-here SOURCE`, and reads the JSON that it prints.
// unavailable: it did not end within `timeout`. It is killed then; a process that the kernel cannot
// kill, because a driver keeps it, is left behind. failed_precondition: it failed, with the last
// line that it wrote to its standard error. When `cancel`, a descriptor, is
// readable, the process is killed at once.
Result<gres::FoundMachine> discover_in_child(const std::string& source, Seconds timeout,
                                             std::vector<std::string> command = {},
                                             int cancel = -1);

}  // namespace ares::aresd
