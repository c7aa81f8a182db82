// The options of srun that arun does not take, each with the reason. Constant data; any thread.
#pragma once

#include <vector>

#include "cli/options/options.h"

namespace ares::arun {

std::vector<cli::Unsupported> refused_options();

}  // namespace ares::arun
