#include "submission/submit_line.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "base/clip.h"
#include "base/printable.h"

namespace ares::submission {
namespace {

// No shell gives these a meaning, wherever they stand in a word that is not the first.
bool is_plain(char c) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         kPlain.find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
}

std::string escape(char c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\'' || c == '\\') return std::string("\\") + c;
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\x%02x", static_cast<unsigned char>(c));
  return text.data();
}

// The form of bash with escapes. `ascii`: only ASCII is written as it is.
std::string escaped(std::string_view word, bool ascii) {
  std::string out = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    const bool needed =
        byte < 0x20 || byte == 0x7f || c == '\'' || c == '\\' || (ascii && byte >= 0x80);
    out += needed ? escape(c) : std::string(1, c);
  }
  return out + "'";
}

std::string shell_word(std::string_view word) {
  if (has_control(word) || !is_utf8(word)) {
    const std::string text = escaped(word, false);
    return has_control(text) || !is_utf8(text) ? escaped(word, true) : text;
  }
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string submit_line(const std::string& program, const std::vector<std::string>& words) {
  std::string line = program;
  for (const std::string& word : words) {
    line += ' ' + shell_word(word);
    if (line.size() > kLongestSubmitLine) break;
  }
  return clip(line, kLongestSubmitLine);
}

}  // namespace ares::submission
