// Colours of states on terminals: the option --color, and which colour a state has. Pure functions,
// except for colours_on(); any thread.
#pragma once

#include <string>
#include <string_view>

#include "cli/options/options.h"

namespace ares::cli {

enum class ColourWhen { automatic, always, never };

// The row --color. Output that programs read is never coloured.
Option colour_option(ColourWhen& chosen);

// Whether what is written to `descriptor`, standard output if none is given, is to be coloured. Automatic: on a terminal
// that can, unless the environment has NO_COLOR (no-color.org).
bool colours_on(ColourWhen chosen);
bool colours_on(ColourWhen chosen, int descriptor);

// The escape sequence before a state of a job or node: "RUNNING", "R", "CANCELLED by 0", "idle*",
// "alloc-". Empty for other words.
std::string_view colour_of(std::string_view state);

// Appends the text within the colour of `state`. It takes as many columns as without.
void put_coloured(std::string_view text, std::string_view state, std::string& out);

}  // namespace ares::cli
