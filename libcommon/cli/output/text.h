// Small pure functions over text that commands share.
// Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::cli {

// Pieces between separators; empty pieces stay. "" gives none.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& pieces, std::string_view separator);
std::string lower(std::string_view text);
std::string upper(std::string_view text);
std::string_view trim(std::string_view text);

// Digits only, at most `max`.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t max);

// The whole of `text` as a number from min to max, or invalid_argument that says so.
Result<std::int64_t> parse_integer(std::string_view text, std::int64_t min, std::int64_t max);

// Position of the first control character (below blank, or DEL), or npos.
std::size_t find_control(std::string_view text);

// Commas inside brackets do not separate: "n[1,3],m2" gives n[1,3] and m2. For host and job lists.
std::vector<std::string> split_outside_brackets(std::string_view text, char separator = ',');

}  // namespace ares::cli
