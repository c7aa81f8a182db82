// Asks the API server at the start whether the client may make each call of the table, so that a missing rule is named before a job needs
// it.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "exec/kubernetes/api/access_review.h"

namespace ares::kubernetes {

class ApiClient;

// Calls back once, in the client's thread, with what is missing; none: all calls are allowed. Errors are those of the calls. The client
// must outlive it.
using AccessDone = std::function<void(const Result<std::vector<AccessQuestion>>&)>;
void check_access(ApiClient& client, const AccessScope& scope, AccessDone done);

}  // namespace ares::kubernetes
