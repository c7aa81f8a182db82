// The exec plugin `mock`: pretends to run jobs, for thousands of nodes in one process. Nothing is executed.
// A table of functions without state, for the loader or a daemon that links it; any thread may ask for it.
#pragma once

#include "plugin/exec_abi.h"

namespace ares::exec {

// Options: `start_delay_ms N` until a task is at its gate; `run_time_ms N` of every job, 0 = the first `sleep N` of its script;
// `fail_permille N` of the jobs exit with 1; `launch_fail_permille N` of the launches fail; `slow_permille N` of the nodes take
// `slow_delay_ms N` for a launch. Always the same jobs and nodes.
const ares_exec_plugin* mock_plugin();

}  // namespace ares::exec
