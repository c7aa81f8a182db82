// Options of Slurm's sbatch that are not implemented: they are refused by name, with what to do in their
// place where there is something. Constant; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/options.h"

namespace ares::submission {

std::vector<cli::Unsupported> refused_options();

// In Slurm a word ":" stands between the parts of a heterogeneous job or step. invalid_argument: one of the words is that.
Status check_not_heterogeneous(const std::vector<std::string>& words);

}  // namespace ares::submission
