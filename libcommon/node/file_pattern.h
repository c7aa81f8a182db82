// Names of output files of an attempt on this node: base/file_pattern.h with everything known.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/file_pattern.h"
#include "node/step_spec.h"

namespace ares::node {

std::string expand_pattern(std::string_view pattern, const StepSpec& spec);
std::string_view default_output(const StepSpec& spec);

}  // namespace ares::node
