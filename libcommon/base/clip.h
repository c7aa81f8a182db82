// Cuts texts that are shown to people and stored: a message may quote a path or a name of any length.
// Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ares {

// How long the reason of a failure may be: it travels with every report of a node and stays with the job's record.
inline constexpr std::size_t kLongestCause = 500;

// At most `most` (>= 3) bytes; what is left out leaves "..." at the end. Never cuts within a UTF-8 character.
std::string clip(std::string_view text, std::size_t most = kLongestCause);

}  // namespace ares
