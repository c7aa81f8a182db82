// Directives: the `#ARES` (and `#SBATCH`) lines at the top of a batch script that carry options.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options/options.h"

namespace ares::cli {

struct DirectiveLine {
  int line = 0;  // 1-based
  std::vector<std::string> words;
};

// The lines up to the first that is neither comment nor blank, each cut into words: quotes group, a backslash takes the next
// character as it is, nothing is expanded, and a word that begins with # ends the line. `##ARES` is a comment.
// invalid_argument, naming script and line, for a quote that is not closed.
Result<std::vector<DirectiveLine>> find_directives(std::string_view script,
                                                   const std::string& name);

// One line cut into words by the same rules. invalid_argument for a quote that is not closed.
Result<std::vector<std::string>> cut_words(std::string_view line);

// The options on them, in their order.
Result<std::vector<GivenOption>> options_from_script(const OptionTable& table,
                                                     std::string_view script,
                                                     const std::string& name);

}  // namespace ares::cli
