#include "exec/kubernetes/api/access_review.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "exec/kubernetes/api/cluster_roles.h"
#include "exec/kubernetes/api/json.h"

namespace ares::kubernetes {

std::vector<AccessQuestion> access_questions(const AccessScope& scope) {
  std::vector<AccessQuestion> questions;
  for (const CallRow& row : call_table()) {
    switch (row.where) {
      case Where::cluster: questions.push_back({row.call, ""}); break;
      case Where::own_namespace: questions.push_back({row.call, scope.own_namespace}); break;
      case Where::job_namespaces:
        for (const std::string& space : scope.job_namespaces)
          questions.push_back({row.call, space});
        break;
    }
  }
  return questions;
}

std::string access_review(const AccessQuestion& question) {
  const CallRow& row = row_of(question.call);
  Json attributes{{"verb", rbac_verb(row.verb)}, {"resource", row.resource}};
  if (!row.group.empty()) attributes["group"] = row.group;
  if (!row.subresource.empty()) attributes["subresource"] = row.subresource;
  if (!question.space.empty()) attributes["namespace"] = question.space;
  const Json review{{"apiVersion", "authorization.k8s.io/v1"},
                    {"kind", "SelfSubjectAccessReview"},
                    {"spec", {{"resourceAttributes", std::move(attributes)}}}};
  return review.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<bool> is_allowed(std::string_view answer) {
  const auto review = parse_object(answer, "the answer to a SelfSubjectAccessReview");
  if (!review) return fail(ErrorCode::failed_precondition, review.error().message);
  const Json* const allowed = find(*review, {"status", "allowed"});
  if (!allowed || !allowed->is_boolean())
    return fail(ErrorCode::failed_precondition,
                "the answer to a SelfSubjectAccessReview does not say whether it is allowed");
  return allowed->get<bool>();
}

std::string describe(const AccessQuestion& question) {
  const CallRow& row = row_of(question.call);
  std::string text = describe(row);
  if (!question.space.empty()) text += " in namespace " + question.space;
  return text + " (ClusterRole " + role_name(row.where) + "), needed to " + std::string(row.why);
}

Status access_error(const std::vector<AccessQuestion>& missing) {
  if (missing.empty()) return {};
  std::string message =
      "the agent's user lacks permissions in Kubernetes; bind the ClusterRoles of "
      "etc/kubernetes/cluster_roles.yaml to it:";
  for (const AccessQuestion& question : missing) message += "\n  " + describe(question);
  return fail(ErrorCode::permission_denied, std::move(message));
}

}  // namespace ares::kubernetes
