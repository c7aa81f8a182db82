#include "pmi/pmi1_line.h"

#include <algorithm>

#include "base/printable.h"

namespace ares::pmi {
namespace {

constexpr std::size_t kMostFields = 16;

bool has_control_byte(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

Result<Pmi1Line> Pmi1Line::read(std::string_view line) {
  if (has_control_byte(line))
    return fail(ErrorCode::invalid_argument, "control character in " + quote(line));
  Pmi1Line read;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) break;
    const std::size_t equals = line.find('=');
    const std::string_view name = line.substr(0, std::min(equals, line.size()));
    if (equals == line.npos || name.empty() || name.find(' ') != name.npos)
      return fail(ErrorCode::invalid_argument, quote(line) + " is not NAME=VALUE");
    if (read.fields_.size() == kMostFields)
      return fail(ErrorCode::invalid_argument,
                  "more than " + std::to_string(kMostFields) + " fields");
    line.remove_prefix(equals + 1);
    // A value is the last field and may contain blanks.
    const std::size_t end = name == "value" ? line.size() : std::min(line.find(' '), line.size());
    read.fields_.emplace_back(name, line.substr(0, end));
    line.remove_prefix(end);
  }
  if (read.fields_.empty()) return fail(ErrorCode::invalid_argument, "empty line");
  return read;
}

std::string_view Pmi1Line::field(std::string_view name) const {
  const auto found =
      std::ranges::find(fields_, name, [](const auto& field) { return field.first; });
  return found == fields_.end() ? std::string_view() : found->second;
}

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= kMostKey &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f && c != '='; });
}

bool is_value(std::string_view text) {
  return text.size() <= kMostValue && !has_control_byte(text);
}

}  // namespace ares::pmi
