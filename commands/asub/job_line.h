// The lines of a file for asub --from: each describes one job. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

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

}  // namespace ares::asub
