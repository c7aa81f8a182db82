// Reads commands, one per line: on a terminal with editing, history and completion, or from a pipe
// or file. Owned by a command's main thread; at most one per process. Programs that use it must
// link readline.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/frame.h"

namespace ares::cli {

struct Prompt {
  std::string program;  // "actl": prefix of the prompt, the history file and error messages.
  std::function<Result<int>(const Words&)> run;  // Runs one line; the words are never empty.
  // Returns the words that can stand between `start` and the end of `line`, ascending.
  std::function<std::vector<std::string>(const std::string& line, std::size_t start)> complete;
  std::function<void()> before_line;  // Called before the next line is read.
};

// Runs until the end of standard input, `exit` or `quit`. On a terminal, returns the exit status of
// the last line. From a pipe or file, the first line that fails ends the run and its number is
// reported.
int interact(const Prompt& prompt);

}  // namespace ares::cli
