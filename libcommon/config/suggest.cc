#include "config/suggest.h"

#include <algorithm>
#include <vector>

#include "base/printable.h"

namespace ares::config {
namespace {

// Optimal string alignment distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kLongestWord =
      64;  // no candidate is nearly as long, and distance() takes time for each letter
  if (word.size() > kLongestWord) return {};
  // Up to a third of the letters may differ; more distant words are not suggested.
  std::size_t best = std::clamp<std::size_t>(word.size() / 3, 1, 3) + 1;
  const std::string* nearest = nullptr;
  for (const std::string& candidate : candidates) {
    const std::size_t far = distance(word, candidate);
    if (far >= best) continue;
    best = far;
    nearest = &candidate;
  }
  return nearest ? "; did you mean " + quote(*nearest) + "?" : std::string();
}

}  // namespace ares::config
