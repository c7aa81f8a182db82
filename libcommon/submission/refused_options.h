// Options of Slurm's sbatch that are not implemented: they are refused by name, with what to do in their
// place where there is something. Constant; any thread.
#pragma once

#include <vector>

#include "cli/options/options.h"

namespace ares::submission {

std::vector<cli::Unsupported> refused_options();

}  // namespace ares::submission
