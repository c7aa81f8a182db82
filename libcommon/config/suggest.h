// Suggestions for misspelled words. Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ares::config {

// Returns `; did you mean "CANDIDATE"?` for the candidate with the smallest edit distance to `word`
// (insertions, deletions, substitutions, swaps of neighbours); "" if none is close enough.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace ares::config
