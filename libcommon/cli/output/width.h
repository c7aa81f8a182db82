// How many columns a text takes on a terminal: East Asian letters and most emoji take two, combining
// marks none. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace ares::cli {

// Bytes that are not UTF-8 count as one column each.
std::size_t display_width(std::string_view text);

// The longest beginning that takes at most `width` columns, with the marks of its last letter.
std::string_view head_of_width(std::string_view text, std::size_t width);

}  // namespace ares::cli
