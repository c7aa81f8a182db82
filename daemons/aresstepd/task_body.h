// Code of the gated child after its gate opens: becomes the job's user, opens the job's files, and executes the script.
// Runs only in the child of aresstepd. On success it does not return (execve); else it returns the reason of the failure.
#pragma once

#include <string>

#include "base/time.h"
#include "node/step_spec.h"
#include "os/task_tree.h"

namespace ares::stepd {

// `directory` holds the record `script`; `environment` is the submitted one, NUL-separated.
os::TaskTree::BodyFailure run_script(const node::StepSpec& spec, const std::string& directory,
                                     const std::string& environment, Time now);

}  // namespace ares::stepd
