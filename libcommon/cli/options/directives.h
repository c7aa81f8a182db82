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

// The directive lines before the first line that is neither a comment nor blank, each split into
// words. Quotes group, a backslash escapes the next character, nothing is expanded, and a word that
// begins with # ends the line. `##ARES` is a comment. Returns invalid_argument, naming script and
// line, for an unclosed quote.
Result<std::vector<DirectiveLine>> find_directives(std::string_view script,
                                                   const std::string& name);

// Splits one line into words by the same rules. Returns invalid_argument for an unclosed quote.
Result<std::vector<std::string>> cut_words(std::string_view line);

// The options in the directives, in order.
Result<std::vector<GivenOption>> options_from_script(const OptionTable& table,
                                                     std::string_view script,
                                                     const std::string& name);

}  // namespace ares::cli
