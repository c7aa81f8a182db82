// Parses the words of a command into conditions and settings: `modify account where name=a set
// fairshare=5`. Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::aacctmgr {

enum class Op { set, add, remove };  // = += -=

struct Term {
  std::string word;  // As typed.
  Op op = Op::set;
  std::string value;
};

struct Line {
  std::vector<std::string> names;  // Words without =, split at commas.
  std::vector<Term> where;         // Conditions before `set`.
  std::vector<Term> set;
  bool has_set = false;
};

// Before `set`, words without = are names. After `set` such a word continues the previous text, for
// users who omit the quotes (description=physics and more). Returns invalid_argument for a value
// that contains control characters.
Result<Line> parse_line(std::span<const std::string> words);

// A keyword with all its spellings; the first one is its name.
struct Spelling {
  std::vector<std::string> names;  // lower case
};

// Finds the keyword that `typed` equals, ignoring case, or of which it is an unambiguous prefix.
// Returns invalid_argument beginning with `what` ("unknown entity"), with a suggestion or the list
// of matching keywords.
Result<std::size_t> match_word(std::string_view typed, const std::vector<Spelling>& words,
                               const std::string& what);

}  // namespace ares::aacctmgr
