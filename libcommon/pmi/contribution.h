// What one node adds to the keys of a step at a barrier, as text that the step daemons exchange:
// a line "fence N", then a line "key=value" for each. Plain data and pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::pmi {

// Of the printed text of one node; a put beyond it is refused.
inline constexpr std::size_t kMostContribution = 8 << 20;

using KeyValues = std::map<std::string, std::string, std::less<>>;

struct Contribution {
  std::uint64_t fence = 0;  // counts the barriers of the step
  KeyValues values;

  friend bool operator==(const Contribution&, const Contribution&) = default;
};

std::string print(const Contribution& contribution);

// invalid_argument for whatever print() does not produce.
Result<Contribution> read_contribution(std::string_view text);

}  // namespace ares::pmi
