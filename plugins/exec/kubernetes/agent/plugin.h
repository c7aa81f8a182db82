// The exec plugin `kubernetes`: jobs as pods. A stateless function table, for the plugin loader or tests; any thread may get it.
#pragma once

#include "plugin/exec_abi.h"

namespace ares::kubernetes {

// Options: the text of Settings (settings.h). Its open() waits until it knows all nodes and pods of the Kubernetes cluster.
const ares_exec_plugin* kubernetes_plugin();

}  // namespace ares::kubernetes
