// What the kernel holds jobs to here. Any thread.
#pragma once

#include <string>

#include "os/hierarchies.h"

namespace ares::os {

// Found by making control groups and removing them again: some of "cpus" (else "cpu-time"), "memory",
// "processes" and "devices", in this order and separated by commas; "none".
std::string enforced_limits(const Hierarchies& hierarchies);

}  // namespace ares::os
