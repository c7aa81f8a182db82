// Completion of a command line: commands, entities, selectors, properties and existing names. Pure
// functions; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aacctmgr/selection.h"

namespace ares::aacctmgr {

// Existing names by the selector that chooses them, ascending.
using NamesBySelector = std::map<Selector, std::vector<std::string>>;
NamesBySelector names_in(const Snapshot& snapshot);

// Returns the words that can stand between `start` and the end of `line` and begin with the text
// there, ascending. Blanks, commas and equals signs end a word. A word that takes a value includes
// its equals sign.
std::vector<std::string> complete(const std::string& line, std::size_t start,
                                  const NamesBySelector& names);

}  // namespace ares::aacctmgr
