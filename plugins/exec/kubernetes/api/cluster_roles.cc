#include "exec/kubernetes/api/cluster_roles.h"

#include <string_view>
#include <utility>
#include <vector>

namespace ares::kubernetes {
namespace {

struct Role {
  Where where;
  const char* name;
  const char* binding;  // how it is bound, as a comment
};
constexpr Role kRoles[] = {
    {Where::cluster, "ares-agent", "To be bound by a ClusterRoleBinding."},
    {Where::job_namespaces, "ares-agent-jobs",
     "To be bound by a RoleBinding in each namespace in which jobs run, or by a "
     "ClusterRoleBinding."},
    {Where::own_namespace, "ares-agent-own",
     "To be bound by a RoleBinding in the namespace of the agent."},
};

std::string resource_of(const CallRow& row) {
  std::string resource(row.resource);
  if (!row.subresource.empty()) resource += "/" + std::string(row.subresource);
  return resource;
}

// The rules of one role: one for each resource, with the reason of each verb above it.
std::string rules_of(Where where) {
  struct Rule {
    std::string_view group;
    std::string resource;
    std::string verbs;
    std::string reasons;
  };
  std::vector<Rule> rules;
  for (const CallRow& row : call_table()) {
    if (row.where != where) continue;
    const std::string resource = resource_of(row);
    if (rules.empty() || rules.back().resource != resource || rules.back().group != row.group)
      rules.push_back({row.group, resource, "", ""});
    Rule& rule = rules.back();
    if (!rule.verbs.empty()) rule.verbs += ", ";
    rule.verbs += rbac_verb(row.verb);
    rule.reasons += "  # " + std::string(rbac_verb(row.verb)) + ": " + std::string(row.why) + "\n";
  }
  std::string text;
  for (const Rule& rule : rules)
    text += rule.reasons + "  - apiGroups: [\"" + std::string(rule.group) +
            "\"]\n    resources: [\"" + rule.resource + "\"]\n    verbs: [" + rule.verbs + "]\n";
  return text;
}

}  // namespace

const char* role_name(Where where) {
  for (const Role& role : kRoles)
    if (role.where == where) return role.name;
  return "";
}

std::string cluster_roles() {
  std::string text =
      "# What the agent of Ares may do in a Kubernetes cluster. Made from the table of its calls; "
      "a test compares them.\n";
  for (const Role& role : kRoles) {
    if (&role != kRoles) text += "---\n";
    text += "# " + std::string(role.binding) +
            "\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: " +
            role.name + "\nrules:\n" + rules_of(role.where);
  }
  return text;
}

}  // namespace ares::kubernetes
