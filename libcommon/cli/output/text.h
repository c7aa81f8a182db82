// Small pure functions on text shared by commands. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::cli {

// Splits at separators; empty pieces are kept. "" gives no pieces.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& pieces, std::string_view separator);
std::string lower(std::string_view text);
std::string upper(std::string_view text);
std::string_view trim(std::string_view text);

// Digits only, at most `max`.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t max);

// Parses all of `text` as a number from min to max; otherwise returns invalid_argument with these
// bounds.
Result<std::int64_t> parse_integer(std::string_view text, std::int64_t min, std::int64_t max);

// `text` as a field between delimiters that programs read: printable, with '?' for each delimiter in it, so that a name cannot
// shift the fields behind it.
std::string delimited_cell(std::string_view text, std::string_view delimiter);

// "87.5%", or "" if `whole` is zero.
std::string percent_text(double part, double whole);

// An amount in hundredths, such as a load: "0.57", "12.00".
std::string hundredths_text(std::uint64_t hundredths);

// Commas inside brackets do not separate: "n[1,3],m2" gives n[1,3] and m2. For host and job lists.
std::vector<std::string> split_outside_brackets(std::string_view text, char separator = ',');

}  // namespace ares::cli
