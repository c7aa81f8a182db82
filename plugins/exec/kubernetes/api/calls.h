// The table of all calls to the Kubernetes API. From it come the paths of requests, the rules of the ClusterRoles (cluster_roles.h)
// and the check of permissions at the start (access_check.h). Immutable; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::kubernetes {

enum class Verb { get, list, watch, create, update, patch, remove };

// Names a row of the table.
enum class Call {
  get_pod,
  list_pods,
  watch_pods,
  create_pod,
  patch_pod,
  delete_pod,
  bind_pod,
  get_pod_log,
  get_node,
  list_nodes,
  watch_nodes,
  create_secret,
  delete_secret,
  get_lease,
  create_lease,
  update_lease,
  create_access_review,
  get_namespace,
};

// For which objects the agent needs the call: all of the cluster, those in the namespaces in which jobs run, or those in its own.
enum class Where { cluster, job_namespaces, own_namespace };

struct CallRow {
  Call call;
  Verb verb;
  std::string_view group;  // empty: the core group
  std::string_view resource;
  std::string_view subresource;  // empty: the resource itself
  bool namespaced;
  Where where;
  std::string_view why;  // completes "needed to ..."
};

std::span<const CallRow> call_table();  // in the order of Call
const CallRow& row_of(Call call);

// Whether only the active agent may make the call: it changes an object, and is not how an agent becomes the active one.
bool is_for_active_agent(const CallRow& row);

std::string_view rbac_verb(Verb verb);    // as rules name it: "delete"
std::string_view http_method(Verb verb);  // "DELETE"
std::string describe(
    const CallRow& row);  // "create pods/binding", "get leases.coordination.k8s.io"

// The object of a call. A call without a name is for all objects; one without a namespace for those of all namespaces.
struct Target {
  std::string space{};  // namespace
  std::string name{};
};

// "/api/v1/namespaces/SPACE/pods/NAME/binding". invalid_argument: a namespace or name that no object can have, or one that is
// missing. `version`: of the group, from Discovery.
Result<std::string> path_of(Call call, std::string_view version, const Target& target);

}  // namespace ares::kubernetes
