// The exec plugin `baremetal`: every attempt is a process tree under an aresstepd of its own.
// A table of functions without state, for the loader or a daemon that links it; any thread may ask for it.
#pragma once

#include "plugin/exec_abi.h"

namespace ares::exec {

// Options: `stepd PATH`.
const ares_exec_plugin* baremetal_plugin();

}  // namespace ares::exec
