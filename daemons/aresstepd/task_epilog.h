// The site's task epilog: a program that runs as the job's user after the script. Called in the job's
// first process after it has become the user; single-threaded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/step_spec.h"

namespace ares::stepd {

// Returns in a child of this process, which is to execute the script. This process waits for it, runs
// the epilog with these variables, and ends as the child did. What is wrong with the epilog is written
// to the standard error of the job. Signals that are sent to the job do not concern this process; see
// os::script_of(). An error: nothing was done.
Status continue_as_child(const node::SiteProgram& epilog, std::vector<std::string> variables);

// Runs the epilog and waits for its end, with all signals blocked. Empty, or what went wrong.
std::string run_task_epilog(const node::SiteProgram& epilog, std::vector<std::string> variables);

}  // namespace ares::stepd
