// Names of output files as users write them: "ares-%j.out", "log/%x_%4a.txt".
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/node/step_spec.h"

namespace ares::node {

struct PatternLetter {
  char letter;
  bool padded;  // a number before the letter fills with zeros on the left
  std::string_view meaning;
};
// For the manual.
std::span<const PatternLetter> pattern_letters();

// Replaces every known %LETTER; an unknown one stays as it is. A backslash anywhere switches this off and is itself left out.
std::string expand_pattern(std::string_view pattern, const StepSpec& spec);

// Where standard output goes if the user named nothing: "ares-%j.out", of an array task "ares-%A_%a.out".
std::string_view default_output(const StepSpec& spec);

}  // namespace ares::node
