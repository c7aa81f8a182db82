// Shortens texts that are shown to users and stored: a message may quote a path or a name of any
// length. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ares {

// Limit in bytes for the reason of a failure, which is in every node report and the job's record.
inline constexpr std::size_t kLongestCause = 500;

// At most `most` (>= 3) bytes, with "..." where text was cut. Never cuts within a UTF-8 character.
std::string clip(std::string_view text, std::size_t most = kLongestCause);

}  // namespace ares
