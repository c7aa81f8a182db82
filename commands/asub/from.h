// Many jobs in one call (asub --from): every line of a file describes one, and all are looked at before any is sent.
// Owned by asub's main thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "asub/batch.h"
#include "asub/prepare.h"

namespace ares::asub {

// What a line says: a script's path, or {"script": PATH} or {"wrap": COMMAND} with "args": [...] and any option by its long name.
struct Line {
  std::vector<std::string> operands;  // the script and its arguments
  std::vector<std::string> words;     // options, as on a command line
};
Result<Line> read_line(std::string_view text);

// The lines that say something, with their numbers: blank ones and those that begin with # are passed over.
std::vector<std::pair<std::size_t, std::string_view>> lines_of(std::string_view text);

// Reads the file, or standard input for "-", submits what it says and prints one line a job. `words` are the command line's: its
// options are every job's, and a line's own come before them. The exit status.
Result<int> submit_from(const Submission& wanted, const std::vector<std::string>& words);

}  // namespace ares::asub
