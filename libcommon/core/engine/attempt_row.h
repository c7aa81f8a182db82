// The accounting row that a job's record stands for right now.
// Pure; engine thread.
#pragma once

#include <optional>

#include "model/job.h"

namespace ares::core {

// Of its current or last attempt; attempt 0 for a job that ended without ever having been allocated. None for a job that waits.
std::optional<Attempt> attempt_row(const Job& job);

}  // namespace ares::core
