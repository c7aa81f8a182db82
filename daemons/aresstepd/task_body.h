// What the gated child does once it may: becomes the job's user, opens the job's files, and executes the script.
// Runs in the child of aresstepd only; nothing here returns to the supervisor but the reason of a failure.
#pragma once

#include <string>

#include "base/time.h"
#include "node/step_spec.h"
#include "os/task_tree.h"

namespace ares::stepd {

// `directory` holds the record `script`; `environment` is what was submitted, NUL-separated.
os::TaskTree::BodyFailure run_script(const node::StepSpec& spec, const std::string& directory,
                                     const std::string& environment, Time now);

}  // namespace ares::stepd
