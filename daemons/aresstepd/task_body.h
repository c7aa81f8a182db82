// Code of the gated child after its gate opens: becomes the job's user, opens the job's files, and executes the script.
// Runs only in the child of aresstepd. On success it does not return (execve); else it returns the reason of the failure.
#pragma once

#include <string>

#include "os/task_tree.h"

namespace ares::stepd {

// `directory` holds the records `spec`, `script` and `environment`; its supervisor holds the lock.
os::TaskTree::BodyFailure run_attempt(const std::string& directory);

}  // namespace ares::stepd
