// Completion of a command line: commands, properties, their values, and names known to the
// controller. Pure except for the source of names; owned by the interactive mode.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "actl/command.h"

namespace ares::actl {

// Returns existing jobs, nodes, partitions or reservations as text; empty if the controller does
// not answer.
using NameSource = std::function<std::vector<std::string>(Names)>;

// Returns the words that can stand between `start` and the end of `line` and begin with the text
// there, ascending. Blanks, commas and equals signs end a word. A property includes its equals
// sign.
std::vector<std::string> complete(const std::string& line, std::size_t start,
                                  const NameSource& names);

}  // namespace ares::actl
