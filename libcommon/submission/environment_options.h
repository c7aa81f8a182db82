// The options of asub that the submitter's environment gives: ASUB_NAME, and Slurm's SBATCH_NAME.
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "cli/options/options.h"

namespace ares::submission {

struct EnvironmentOptions {
  std::vector<cli::GivenOption> given;  // ASUB_NAME after SBATCH_NAME, so that it takes effect
  std::vector<std::string> warnings;    // variables that look like options and are none
  std::string output_prefix{};          // ASUB_OUTPUT_PREFIX; empty: it is not set
};

// `variables` are NAME=VALUE. Both prefixes are taken with the names of the options and with Slurm's:
// ASUB_TIME, ASUB_TIMELIMIT, SBATCH_TIMELIMIT. Invalid_argument for a value with control characters.
Result<EnvironmentOptions> options_from_variables(const cli::OptionTable& table,
                                                  const std::vector<std::string>& variables);

// The default file of standard output with another first word than "ares": "slurm-%j.out", of an array
// "slurm-%A_%a.out".
std::string default_output(const std::string& prefix, bool array);

}  // namespace ares::submission
