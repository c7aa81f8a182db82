// What may stand at a place of a command line: commands, properties, their values, and names known to the controller.
// Pure but for the source of names; owned by the interactive mode.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "actl/command.h"

namespace ares::actl {

// The jobs, nodes or partitions there are, as text; empty if nobody answers.
using NameSource = std::function<std::vector<std::string>(Names)>;

// All words that could stand between `start` and the end of `line`, and begin with what is there; ascending. Blanks, commas and equals
// signs end a word. A property comes with its equals sign.
std::vector<std::string> complete(const std::string& line, std::size_t start,
                                  const NameSource& names);

}  // namespace ares::actl
