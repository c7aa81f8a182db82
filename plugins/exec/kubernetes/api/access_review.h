// The questions whether the client may make each call of the table: SelfSubjectAccessReviews and their answers. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/kubernetes/api/calls.h"

namespace ares::kubernetes {

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

// permission_denied with all that is missing and what to do about it, or nothing.
Status access_error(const std::vector<AccessQuestion>& missing);

}  // namespace ares::kubernetes
