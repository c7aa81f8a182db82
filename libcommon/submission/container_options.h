// The options of jobs that run in containers. Owned by the command's main thread.
#pragma once

#include <vector>

#include "cli/options/options.h"
#include "submission/submission.h"

namespace ares::submission {

// The rows are bound to `target`, which must outlive them.
std::vector<cli::Option> container_options(Submission& target);

// The same options, refused by name, for commands whose jobs do not run in containers.
std::vector<cli::Unsupported> refused_container_options();

}  // namespace ares::submission
