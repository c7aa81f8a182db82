// Many jobs in one call (asub --from): every line of a file describes one job, and all lines are
// checked before any is sent. Owned by asub's main thread.
#pragma once

#include <string>
#include <vector>

#include "asub/batch.h"
#include "submission/prepare.h"

namespace ares::asub {

// Reads the file, or standard input for "-", submits its jobs and prints one line per job. `words`
// is the command line. Its options apply to every job; a line's own options take precedence.
// Returns the exit status.
Result<int> submit_from(const submission::Submission& wanted,
                        const std::vector<std::string>& words);

}  // namespace ares::asub
