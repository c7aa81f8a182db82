// The exec plugin `baremetal`: each attempt is a process tree under its own aresstepd. A stateless
// function table, for the plugin loader or a daemon that links it; any thread may get it.
#pragma once

#include "plugin/exec_abi.h"

namespace ares::exec {

// Options: `stepd PATH`.
const ares_exec_plugin* baremetal_plugin();

}  // namespace ares::exec
