// What may stand at a place of a command line: commands, entities, selectors, properties, and names that there are.
// Pure functions; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aacctmgr/selection.h"

namespace ares::aacctmgr {

// By what selects them; ascending.
using NamesBySelector = std::map<Selector, std::vector<std::string>>;
NamesBySelector names_in(const Snapshot& snapshot);

// All words that could stand between `start` and the end of `line`, and begin with what is there; ascending. Blanks, commas and equals
// signs end a word. What takes a value comes with its equals sign.
std::vector<std::string> complete(const std::string& line, std::size_t start,
                                  const NamesBySelector& names);

}  // namespace ares::aacctmgr
