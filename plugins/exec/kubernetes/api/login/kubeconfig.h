// Reads a kubeconfig, and the folder of a service account in a pod. Pure but for what `read` does; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "exec/kubernetes/api/login/access.h"

namespace ares::kubernetes {

// `text`: the content of the file `path`, from whose folder relative paths go. `context`: empty for the current one.
// invalid_argument, with file and line: it is not a kubeconfig, or asks for something that is not supported or not safe; the
// message says what to do instead. Errors of `read` are passed on.
Result<ServerAccess> parse_kubeconfig(const std::string& text, const std::string& path,
                                      const std::string& context, const ReadFile& read);

inline constexpr const char* kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// `host` and `port`: the variables KUBERNETES_SERVICE_HOST and _PORT. failed_precondition: this is not a pod.
Result<ServerAccess> in_cluster_access(const std::string& host, const std::string& port,
                                       const std::string& folder, const ReadFile& read);

}  // namespace ares::kubernetes
