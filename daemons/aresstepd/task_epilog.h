// The site's task epilog: a program that runs as the job's user after the script. Single-threaded.
#pragma once

#include <string>
#include <vector>

#include "node/step_spec.h"

namespace ares::stepd {

// Runs the epilog with these variables and waits for its end, with all signals blocked. Empty, or
// what went wrong.
std::string run_task_epilog(const node::SiteProgram& epilog, std::vector<std::string> variables);

}  // namespace ares::stepd
