// Shortens texts that are shown to users and stored: a message may quote a path or a name of any
// length. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ares {

// Limit for the reason of a failure, in bytes: it is part of every report of a node and of the job's record.
inline constexpr std::size_t kLongestCause = 500;

// Returns at most `most` (>= 3) bytes; a shortened text ends with "...". Never cuts within a UTF-8 character.
std::string clip(std::string_view text, std::size_t most = kLongestCause);

}  // namespace ares
