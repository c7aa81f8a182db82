// Names of an attempt's output files on this node: expands base/file_pattern.h with all values
// known. known. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/file_pattern.h"
#include "node/step_spec.h"

namespace ares::node {

std::string expand_pattern(std::string_view pattern, const StepSpec& spec);
std::string_view default_output(const StepSpec& spec);

}  // namespace ares::node
