#include "pmi/contribution.h"

#include <charconv>

#include "base/printable.h"
#include "pmi/pmi1_line.h"

namespace ares::pmi {
namespace {

constexpr std::string_view kHead = "fence ";

tl::unexpected<Error> malformed(std::string what) {
  return fail(ErrorCode::invalid_argument, "keys of another node: " + std::move(what));
}

}  // namespace

std::string print(const Contribution& contribution) {
  std::string text = std::string(kHead) + std::to_string(contribution.fence) + "\n";
  for (const auto& [key, value] : contribution.values) text += key + "=" + value + "\n";
  return text;
}

Result<Contribution> read_contribution(std::string_view text) {
  // A text of this form has at most a few bytes more than the keys that put() counts.
  if (text.size() > kMostContribution) return malformed("too long");
  Contribution read;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == text.npos) return malformed("the last line is not complete");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (first) {
      first = false;
      const auto number = line.starts_with(kHead) ? line.substr(kHead.size()) : "";
      const auto [stop, error] =
          std::from_chars(number.data(), number.data() + number.size(), read.fence);
      if (error != std::errc() || std::to_string(read.fence) != number)
        return malformed(quote(line) + " is not the number of a fence");
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == line.npos || !is_key(line.substr(0, equals)) ||
        !is_value(line.substr(equals + 1)))
      return malformed(quote(line) + " is not KEY=VALUE");
    if (!read.values.empty() && read.values.rbegin()->first >= line.substr(0, equals))
      return malformed(quote(line) + " is not in order");
    read.values.emplace_hint(read.values.end(), line.substr(0, equals), line.substr(equals + 1));
  }
  if (first) return malformed("empty");
  return read;
}

}  // namespace ares::pmi
