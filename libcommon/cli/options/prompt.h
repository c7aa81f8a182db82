// Commands one a line: on a terminal with editing, history and completion, or from a pipe or file.
// Owned by a command's main thread; one at a time in a process. Who uses it links readline.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/frame.h"

namespace ares::cli {

struct Prompt {
  std::string program;  // "actl": what the prompt, the history's file and complaints begin with
  std::function<Result<int>(const Words&)> run;  // one line; never empty
  // All words that could stand between `start` and the end of `line`; ascending.
  std::function<std::vector<std::string>(const std::string& line, std::size_t start)> complete;
  std::function<void()> before_line;  // when the next line is about to be typed
};

// Until the end of standard input, `exit` or `quit`. From a terminal the exit status is the last line's. From a pipe or file the first line
// that fails ends it, and its number is told.
int interact(const Prompt& prompt);

}  // namespace ares::cli
