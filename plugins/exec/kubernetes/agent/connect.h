// The first calls to an API server: whether it has what the agent needs, which permissions are missing, and which cluster it is.
// They wait for the answers. Used once, by the thread that owns the client.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "exec/kubernetes/api/client.h"
#include "exec/kubernetes/api/object_watch.h"
#include "exec/kubernetes/settings/settings.h"

namespace ares::kubernetes {

// A client for what the settings name. Makes no call yet.
Result<std::unique_ptr<ApiClient>> open_client(const Settings& settings);

// Lets the client and the watches work until `is_done`, at most a minute. unavailable: it is not, and why; `what` completes "no
// answer about ...".
Status run_until(ApiClient& client, const std::vector<ObjectWatch*>& watches,
                 const std::function<bool()>& is_done, const std::string& what);

// Returns what identifies the Kubernetes cluster. The error says what is missing, and what to do.
Result<std::string> connect(ApiClient& client, const Settings& settings);

}  // namespace ares::kubernetes
