// What somebody meant who wrote a word that does not exist.
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ares::config {

// `; did you mean "CANDIDATE"?` for the candidate that differs from `word` by the fewest letters
// inserted, left out, changed or swapped with their neighbour; "" when none is near.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace ares::config
