// Asks the API server at the start whether the client may make each call of the table, by SelfSubjectAccessReviews, so that a missing rule
// is named before a job needs it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/kubernetes/api/calls.h"

namespace ares::kubernetes {

class ApiClient;

// Where the calls of the table are to be allowed.
struct AccessScope {
  std::vector<std::string> job_namespaces{};
  std::string own_namespace{};
};

// One question: a call in one namespace, or in all.
struct AccessQuestion {
  Call call;
  std::string space;  // empty: the whole cluster
};
std::vector<AccessQuestion> access_questions(const AccessScope& scope);

// The body of the SelfSubjectAccessReview, and whether its answer allows the call. failed_precondition: it is not one.
std::string access_review(const AccessQuestion& question);
Result<bool> is_allowed(std::string_view answer);

// "create pods/binding in namespace jobs (ClusterRole ares-agent-jobs), needed to place the pods of jobs on nodes"
std::string describe(const AccessQuestion& question);

// Calls back once, in the client's thread, with what is missing; none: all calls are allowed. Errors are those of the calls. The client
// must outlive it.
using AccessDone = std::function<void(const Result<std::vector<AccessQuestion>>&)>;
void check_access(ApiClient& client, const AccessScope& scope, AccessDone done);

// permission_denied with all that is missing and what to do about it, or nothing.
Status access_error(const std::vector<AccessQuestion>& missing);

}  // namespace ares::kubernetes
