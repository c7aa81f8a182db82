// A command line as it was typed, cut into what is chosen and what is to be: `modify account where name=a set fairshare=5`.
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::aacctmgr {

enum class Op { set, add, remove };  // = += -=

struct Term {
  std::string word;  // as typed
  Op op = Op::set;
  std::string value;
};

struct Line {
  std::vector<std::string> names;  // words without =, and what stood between commas in them
  std::vector<Term> where;         // before `set`
  std::vector<Term> set;
  bool has_set = false;
};

// Before `set`, bare words are names; behind it a bare word goes on with the text before it, as it does when quotes were forgotten
// (description=physics and more). invalid_argument for a value that holds control characters.
Result<Line> parse_line(std::span<const std::string> words);

// One of a few words, each with all its spellings, the first of which is its name.
struct Spelling {
  std::vector<std::string> names;  // lower case
};

// The position of the word that `typed` is, in any case of letters, or begins, if it begins no other. invalid_argument, beginning with
// `what` ("unknown entity"), with a suggestion; or naming the words it could be.
Result<std::size_t> match_word(std::string_view typed, const std::vector<Spelling>& words,
                               const std::string& what);

}  // namespace ares::aacctmgr
