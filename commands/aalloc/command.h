// Runs the command of aalloc while it holds its allocation. Called by main(); one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "step_client/allocation.h"

namespace ares::aalloc {

// The exit status of the command; 128 + the signal that ended it. `kill_with`: the signal that it gets when
// the allocation is gone. Prints when that happens.
Result<int> run_command(const std::vector<std::string>& words, step_client::Allocation& allocation,
                        std::optional<int> kill_with);

}  // namespace ares::aalloc
