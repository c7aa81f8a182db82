// Names of an attempt's output files on this node: expands base/file_pattern.h with all values
// known. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/file_pattern.h"
#include "node/step_spec.h"

namespace ares::node {

std::string expand_pattern(std::string_view pattern, const StepSpec& spec);
std::string_view default_output(const StepSpec& spec);

// Of the batch script, as it was asked for: relative to its directory, unless it begins with a slash.
std::string output_file(const StepSpec& spec);
std::string errors_file(const StepSpec& spec);

}  // namespace ares::node
