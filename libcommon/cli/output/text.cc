#include "cli/output/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>

#include "base/printable.h"

namespace ares::cli {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (text.empty()) return pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string out;
  for (const std::string& piece : pieces) {
    if (!out.empty()) out += separator;
    out += piece;
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t max) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value > max) return std::nullopt;
  return value;
}

Result<std::int64_t> parse_integer(std::string_view text, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < min || value > max)
    return fail(ErrorCode::invalid_argument, quote(text) + " is not a whole number from " +
                                                 std::to_string(min) + " to " +
                                                 std::to_string(max));
  return value;
}

std::string delimited_cell(std::string_view text, std::string_view delimiter) {
  std::string out = printable(text);
  if (delimiter.empty()) return out;
  for (std::size_t at = out.find(delimiter); at != std::string::npos;
       at = out.find(delimiter, at + 1))
    out.replace(at, delimiter.size(), "?");
  return out;
}

std::vector<std::string> split_outside_brackets(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (text.empty()) return pieces;
  int depth = 0;
  pieces.emplace_back();
  for (const char c : text) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == separator && depth == 0) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

std::string percent_text(double part, double whole) {
  if (whole <= 0) return {};
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f%%", 100 * part / whole);
  return buffer;
}

std::string hundredths_text(std::uint64_t hundredths) {
  const std::string digits = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (digits.size() < 2 ? ".0" : ".") + digits;
}

}  // namespace ares::cli
