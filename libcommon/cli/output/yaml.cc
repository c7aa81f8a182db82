#include "cli/output/yaml.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "cli/output/text.h"

namespace ares::cli {
namespace {

// A key on a line with its value may have 1024 characters.
constexpr std::size_t kLongestKey = 1000;

bool is_json_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}

// Words that some readers take for null or a truth value.
bool is_reserved_word(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords = {"null", "true", "false", "yes", "no",
                                                      "on",   "off",  "y",     "n"};
  return text.size() <= 5 && std::find(kWords.begin(), kWords.end(), lower(text)) != kWords.end();
}

// Whether it can stand without quotes: it begins with a letter, '_' or '/', so that it is neither a
// number, a date nor an indicator, and has no character that ends a plain scalar.
bool is_plain_scalar(std::string_view text) {
  if (text.empty() || text.back() == ' ' || is_reserved_word(text)) return false;
  if (!is_ascii_letter(text.front()) && text.front() != '_' && text.front() != '/') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_ascii_letter(c) || is_ascii_digit(c) ||
           std::string_view("_/-. ").find(c) != std::string_view::npos;
  });
}

void put_escape(std::uint32_t code, std::string& out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[code >> shift & 15];
}

// The character of valid UTF-8 at the front, and its size in bytes.
std::pair<std::uint32_t, std::size_t> first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = byte(0) < 0x80 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (size == 1 || size > text.size()) return {byte(0), 1};
  std::uint32_t code = byte(0) & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) code = code << 6 | (byte(i) & 0x3f);
  return {code, size};
}

// Not printable in YAML, or taken for the end of a line by readers of 1.1.
bool needs_escape(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
         code == 0xfeff || code == 0xfffe || code == 0xffff;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

// Four hexadecimal digits at the front.
std::optional<std::uint32_t> hex_number(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  std::uint32_t code = 0;
  for (const char c : text.substr(0, 4)) {
    const auto digit = std::string_view("0123456789abcdef").find(lower(std::string_view(&c, 1)));
    if (digit == std::string_view::npos) return std::nullopt;
    code = code << 4 | static_cast<std::uint32_t>(digit);
  }
  return code;
}

// The character after "\u" at the front of `text`, which is shortened by it. A pair of surrogates is
// one character; one alone is U+FFFD.
std::uint32_t take_escaped(std::string_view& text) {
  const auto first = hex_number(text);
  if (!first) return 0xfffd;
  text.remove_prefix(4);
  if (*first < 0xd800 || *first > 0xdfff) return *first;
  if (*first > 0xdbff || !text.starts_with("\\u")) return 0xfffd;
  const auto second = hex_number(text.substr(2));
  if (!second || *second < 0xdc00 || *second > 0xdfff) return 0xfffd;
  text.remove_prefix(6);
  return 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00);
}

// The string of a JSON token with its quotes.
std::string string_of_token(std::string_view token) {
  token.remove_prefix(1);
  if (token.ends_with('"')) token.remove_suffix(1);
  std::string out;
  while (!token.empty()) {
    const char c = token.front();
    token.remove_prefix(1);
    if (c != '\\' || token.empty()) {
      out += c;
      continue;
    }
    const char kind = token.front();
    token.remove_prefix(1);
    switch (kind) {
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': append_utf8(take_escaped(token), out); break;
      default: out += kind;
    }
  }
  return out;
}

// A JSON number so that readers of YAML 1.1, which want a point before an exponent, see one.
std::string yaml_number(std::string_view token) {
  if (token == "nan" || token == "inf") return "." + std::string(token);
  if (token == "-inf") return "-.inf";
  std::string text(token);
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent == std::string::npos || !(is_ascii_digit(text[0]) || text[0] == '-')) return text;
  if (exponent + 1 < text.size() && is_ascii_digit(text[exponent + 1]))
    text.insert(exponent + 1, "+");
  if (text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
  if (is_plain_scalar(text)) return std::string(text);
  std::string out = "\"";
  while (!text.empty()) {
    const auto [code, size] = first_character(text);
    if (code == '"' || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code == '\n') {
      out += "\\n";
    } else if (code == '\t') {
      out += "\\t";
    } else if (needs_escape(code)) {
      put_escape(code, out);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out + '"';
}

// 0: its end has not arrived.
std::size_t YamlStream::token_size(std::string_view text, bool last) const {
  if (text.front() == '"') {
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        return i + 1;
    }
    return last ? text.size() : 0;
  }
  if (std::string_view("{}[]:,").find(text.front()) != std::string_view::npos) return 1;
  for (std::size_t i = 1; i < text.size(); ++i)
    if (is_json_blank(text[i]) ||
        std::string_view("{}[]:,\"").find(text[i]) != std::string_view::npos)
      return i;
  return last ? text.size() : 0;
}

std::string YamlStream::take(std::string_view json, bool last) {
  std::string joined;
  if (!rest_.empty()) {
    joined = rest_;
    joined += json;
    json = joined;
  }
  std::string out;
  for (;;) {
    while (!json.empty() && is_json_blank(json.front())) json.remove_prefix(1);
    if (json.empty()) break;
    const std::size_t size = token_size(json, last);
    if (size == 0) break;
    token(json.substr(0, size), out);
    json.remove_prefix(size);
  }
  rest_ = std::string(json);
  return out;
}

std::string YamlStream::put(std::string_view json) {
  return take(json, false);
}

std::string YamlStream::finish() {
  std::string out = take({}, true);
  while (!levels_.empty()) close(out);
  return out;
}

void YamlStream::token(std::string_view text, std::string& out) {
  switch (text.front()) {
    case '{': return open(Kind::map, out);
    case '[': return open(Kind::sequence, out);
    case '}':
    case ']':
      if (!levels_.empty()) close(out);
      return;
    case ':':
    case ',': return;
    default: break;
  }
  const std::string written =
      text.front() == '"' ? yaml_scalar(string_of_token(text)) : yaml_number(text);
  if (levels_.empty() || levels_.back().kind == Kind::sequence || levels_.back().has_key)
    return scalar(written, out);
  opened_ = false;
  Level& map = levels_.back();
  begin_line(map, out);
  map.has_key = true;
  if (written.size() <= kLongestKey) {
    out += written + ":";
    return;
  }
  out += "? " + written + "\n" + std::string(map.indent, ' ') + ":";
}

// Begins a line of the level, behind what stands before the first one.
void YamlStream::begin_line(Level& level, std::string& out) {
  if (!level.begun && level.on_line)
    out += ' ';
  else if (!level.begun && levels_.size() > 1)
    out += "\n" + std::string(level.indent, ' ');
  else
    out.append(level.indent, ' ');
  level.begun = true;
}

// Writes the dash of an item of a sequence. The key of a map has been written.
void YamlStream::before_value(std::string& out) {
  opened_ = false;
  if (levels_.empty() || levels_.back().kind == Kind::map) return;
  begin_line(levels_.back(), out);
  out += '-';
}

void YamlStream::open(Kind kind, std::string& out) {
  before_value(out);
  Level level{kind, levels_.empty() ? 0 : levels_.back().indent + 2};
  level.on_line = !levels_.empty() && levels_.back().kind == Kind::sequence;
  levels_.push_back(level);
  opened_ = true;
}

void YamlStream::close(std::string& out) {
  if (opened_) {
    if (levels_.size() > 1) out += ' ';
    out += levels_.back().kind == Kind::map ? "{}\n" : "[]\n";
  }
  opened_ = false;
  levels_.pop_back();
  if (!levels_.empty()) levels_.back().has_key = false;
}

void YamlStream::scalar(std::string_view text, std::string& out) {
  before_value(out);
  if (!levels_.empty()) {
    out += ' ';
    levels_.back().has_key = false;
  }
  out += text;
  out += '\n';
}

std::string to_yaml(std::string_view json) {
  YamlStream stream;
  std::string out = stream.put(json);
  return out + stream.finish();
}

}  // namespace ares::cli
