// Host lists in bracket notation: "n[1-4,7],rack[0-1]_blade[2,3]", expanded and compressed.
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares {

// The names in the order given; of several brackets in one item the last varies fastest. Duplicates
// stay. Leading zeros set the width of the numbers of a range: "n[08-10]" is n08 n09 n10. "" is the
// empty list. Names consist of letters, digits, '.', '-' and '_'. invalid_argument, naming the column,
// for a malformed list, for one of more than `limit` names, and for names of more than 255 characters.
Result<std::vector<std::string>> expand_hostlist(std::string_view text,
                                                 std::size_t limit = 100'000);

// The exact reverse: expand_hostlist returns the same names in the same order, because task ranks
// depend on the order. So only adjacent names are folded, over their last number: n1 n2
// n5 is "n[1-2,5]", n2 n1 is "n[2,1]".
std::string compress_hostlist(std::span<const std::string> names);

}  // namespace ares
