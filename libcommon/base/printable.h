// Text that others wrote, made fit for terminals, logs, tables and messages.
// Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ares {

// How many bytes of its input a message repeats.
inline constexpr std::size_t kLongestQuote = 200;

// Whether the text is UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

// The controls that texts of several lines may contain.
inline constexpr std::string_view kLineControls = "\n\t";

// Whether it contains a character that a terminal acts on instead of showing it, other than those in `allowed`: C0 and C1 controls, DEL,
// separators of lines and paragraphs, and the controls of bidirectional text, which let a text look like another one (Unicode Standard
// Annex 9, CVE-2021-42574).
bool has_control(std::string_view text, std::string_view allowed = "");

// The text with a '?' for each such character and for each byte that is not UTF-8.
std::string printable(std::string_view text, std::string_view allowed = "");

// The text for a message: printable, and at most kLongestQuote bytes of it, then "...".
std::string excerpt(std::string_view text);

// The same in double quotes.
std::string quote(std::string_view text);

}  // namespace ares
