#include "core/topology/matrix/text.h"

#include <algorithm>

namespace ares::core::topology {
namespace {

constexpr std::string_view kBlanks = " \t";

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// End of the escape sequence at `begin`: "ESC [ ... letter", or two bytes for any other sequence.
std::size_t end_of_escape(std::string_view line, std::size_t begin) {
  if (begin + 1 >= line.size() || line[begin + 1] != '[') return std::min(begin + 2, line.size());
  std::size_t end = begin + 2;
  while (end < line.size() && (line[end] < '@' || line[end] > '~')) ++end;
  return std::min(end + 1, line.size());
}

void blank_escapes(std::string& line) {
  for (std::size_t at = line.find('\x1b'); at != std::string::npos; at = line.find('\x1b', at)) {
    const std::size_t end = end_of_escape(line, at);
    std::fill(line.begin() + static_cast<std::ptrdiff_t>(at),
              line.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  }
}

Word trimmed(std::string_view text, std::size_t column) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {{}, column};
  return {text.substr(first, text.find_last_not_of(' ') - first + 1), column + first};
}

}  // namespace

tl::unexpected<Error> fail_at(TextPosition place, const std::string& why) {
  return fail(ErrorCode::invalid_argument, "line " + std::to_string(place.line) + ", column " +
                                               std::to_string(place.column) + ": " + why);
}

std::vector<Word> words_of(std::string_view text, std::size_t first_column) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    if (is_blank(text[at])) {
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.push_back({text.substr(at, end - at), first_column + at});
    at = end;
  }
  return words;
}

std::vector<Word> cells_of(std::string_view text, std::size_t first_column) {
  std::vector<Word> cells;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find('\t', at), text.size());
    cells.push_back(trimmed(text.substr(at, end - at), first_column + at));
    if (end == text.size()) return cells;
    at = end + 1;
  }
}

std::optional<Line> Lines::next() {
  if (rest_.empty()) return std::nullopt;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  Line line{std::string(rest_.substr(0, end)), ++number_};
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (line.text.ends_with('\r')) line.text.pop_back();
  blank_escapes(line.text);
  return line;
}

}  // namespace ares::core::topology
