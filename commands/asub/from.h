// Many jobs in one call (asub --from): every line of a file describes one job, and all lines are
// checked before any is sent. Owned by asub's main thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "asub/batch.h"
#include "asub/prepare.h"

namespace ares::asub {

// The contents of a line: a script's path, or {"script": PATH} or {"wrap": COMMAND} with "args":
// [...] and any option by its long name.
struct Line {
  std::vector<std::string> operands;  // The script and its arguments.
  std::vector<std::string> words;     // Options, as on a command line.
};
Result<Line> read_line(std::string_view text);

// Returns the lines with their numbers, without blank lines and lines that begin with #.
std::vector<std::pair<std::size_t, std::string_view>> lines_of(std::string_view text);

// Reads the file, or standard input for "-", submits its jobs and prints one line per job. `words`
// is the command line. Its options apply to every job; a line's own options take precedence.
// Returns the exit status.
Result<int> submit_from(const Submission& wanted, const std::vector<std::string>& words);

}  // namespace ares::asub
