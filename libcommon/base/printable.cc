#include "base/printable.h"

#include <cstdint>

#include "base/clip.h"

namespace ares {
namespace {

// A character at the begin of a text, or a byte that begins none.
struct Character {
  std::size_t length = 1;
  char32_t code = 0;
  bool valid = false;
};

std::size_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  const std::size_t length = length_by_lead(lead);
  if (length == 0 || length > text.size()) return {};
  char32_t code = length == 1 ? lead : lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {length, code, true};
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) ||  // C0, DEL and C1
         c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) ||  // bidirectional text
         c == 0x2028 || c == 0x2029;      // separators of lines and paragraphs
}

bool is_refused(const Character& c, std::string_view allowed) {
  return is_control(c.code) &&
         (c.length > 1 || allowed.find(static_cast<char>(c.code)) == std::string_view::npos);
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character c = first_of(text);
    if (!c.valid) return false;
    text.remove_prefix(c.length);
  }
  return true;
}

bool has_control(std::string_view text, std::string_view allowed) {
  while (!text.empty()) {
    const Character c = first_of(text);
    if (c.valid && is_refused(c, allowed)) return true;
    text.remove_prefix(c.length);
  }
  return false;
}

std::string printable(std::string_view text, std::string_view allowed) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_of(text);
    if (c.valid && !is_refused(c, allowed))
      out += text.substr(0, c.length);
    else
      out += '?';
    text.remove_prefix(c.length);
  }
  return out;
}

std::string excerpt(std::string_view text) {
  return printable(clip(text, kLongestQuote));
}

std::string quote(std::string_view text) {
  return '"' + excerpt(text) + '"';
}

}  // namespace ares
