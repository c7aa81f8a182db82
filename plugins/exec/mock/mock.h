// The exec plugin `mock`: simulates jobs for thousands of nodes in one process. It executes nothing.
// A stateless function table, for the plugin loader or a daemon that links it; any thread may get it.
#pragma once

#include "plugin/exec_abi.h"

namespace ares::exec {

// Options: `start_delay_ms N` until a task is at its gate; `run_time_ms N` of every job, 0 = the first `sleep N` of
// its script; `fail_permille N` of the jobs exit with 1; `launch_fail_permille N` of the launches fail; `slow_permille
// N` of the nodes take `slow_delay_ms N` for a launch. The choice is deterministic by attempt and by node name.
// `nodes_file PATH`: nodes that the plugin finds (node_file.h).
const ares_exec_plugin* mock_plugin();

}  // namespace ares::exec
