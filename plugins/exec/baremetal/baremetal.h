// The exec plugin `baremetal`: each attempt is a process tree under its own aresstepd. A stateless
// function table, for the plugin loader or a daemon that links it; any thread may get it.
#pragma once

#include "plugin/exec_abi.h"

namespace ares::exec {

// Options: `stepd PATH`; `user_namespaces no` if jobs must not run in unprivileged user namespaces;
// `private_ipc no` if their shared memory is to be the machine's.
// can_freeze() is called before the options are known, so that the host has to consider this one.
const ares_exec_plugin* baremetal_plugin();

}  // namespace ares::exec
