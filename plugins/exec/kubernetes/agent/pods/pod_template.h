// The template of a user for the pods of a job (asub --pod-template): an allow-list of fields of a Pod, listed in ares-kubernetes(7).
// Everything else is refused by name. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "exec/kubernetes/api/json.h"

namespace ares::kubernetes {

// Reads a template. `has_own_space`: its pods are in a namespace that is mapped to the user, whose Secrets, ConfigMaps and claims they
// may therefore mount. invalid_argument: it has a field or a value that is not allowed, and which.
Result<Json> read_pod_template(std::string_view text, bool has_own_space);

// Adds what such a template has to a pod with one container.
void add_template(const Json& read, Json& pod);

// Why nothing of a user may be mounted at that path of the container; empty: it may.
std::string wrong_mount_path(std::string_view path);

}  // namespace ares::kubernetes
