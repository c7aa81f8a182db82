// ares-allocation, the batch script of an interactive allocation: waits on the job's first node until its
// command releases it (steps/hold.h). Called by main().
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ares::arun {

// The exit code of the job. `words`: --unheld, if no command holds the allocation.
Result<int> hold_allocation(const std::vector<std::string>& words);

}  // namespace ares::arun
