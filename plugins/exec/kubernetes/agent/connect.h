// The first calls to an API server: whether it has what the agent needs, which permissions are missing, and which cluster it is.
// They wait for the answers. Used once, by the thread that owns the client.
#pragma once

#include <memory>
#include <string>

#include "exec/kubernetes/agent/wait.h"
#include "exec/kubernetes/api/client.h"
#include "exec/kubernetes/settings/settings.h"

namespace ares::kubernetes {

// A client for what the settings name. Makes no call yet.
Result<std::unique_ptr<ApiClient>> open_client(const Settings& settings);

// Returns what identifies the Kubernetes cluster. The error says what is missing, and what to do.
Result<std::string> connect(const Wait& wait, const Settings& settings);

}  // namespace ares::kubernetes
