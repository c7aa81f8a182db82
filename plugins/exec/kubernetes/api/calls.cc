#include "exec/kubernetes/api/calls.h"

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "exec/kubernetes/settings/object_name.h"

namespace ares::kubernetes {
namespace {

constexpr std::string_view kLeases = "coordination.k8s.io";
constexpr std::string_view kReviews = "authorization.k8s.io";

// One row a line.
// clang-format off
constexpr std::array kTable{
    CallRow{Call::get_pod, Verb::get, "", "pods", "", true, Where::cluster, "look at a pod whose creation was not answered"},
    CallRow{Call::list_pods, Verb::list, "", "pods", "", true, Where::cluster, "know the pods of jobs and what other pods use on each node"},
    CallRow{Call::watch_pods, Verb::watch, "", "pods", "", true, Where::cluster, "follow the pods of jobs and of others"},
    CallRow{Call::create_pod, Verb::create, "", "pods", "", true, Where::job_namespaces, "start jobs"},
    CallRow{Call::patch_pod, Verb::patch, "", "pods", "", true, Where::job_namespaces, "give pods their go and remove finalizers"},
    CallRow{Call::delete_pod, Verb::remove, "", "pods", "", true, Where::job_namespaces, "end jobs"},
    CallRow{Call::bind_pod, Verb::create, "", "pods", "binding", true, Where::job_namespaces, "place the pods of jobs on nodes"},
    CallRow{Call::get_pod_log, Verb::get, "", "pods", "log", true, Where::job_namespaces, "read what jobs print"},
    CallRow{Call::get_node, Verb::get, "", "nodes", "", false, Where::cluster, "see whether a node was removed on which jobs run"},
    CallRow{Call::list_nodes, Verb::list, "", "nodes", "", false, Where::cluster, "know the nodes"},
    CallRow{Call::watch_nodes, Verb::watch, "", "nodes", "", false, Where::cluster, "follow changes of nodes"},
    CallRow{Call::create_secret, Verb::create, "", "secrets", "", true, Where::job_namespaces, "carry scripts and environments to pods"},
    CallRow{Call::delete_secret, Verb::remove, "", "secrets", "", true, Where::job_namespaces, "remove the scripts of ended jobs"},
    CallRow{Call::get_lease, Verb::get, kLeases, "leases", "", true, Where::own_namespace, "see whether another agent is active"},
    CallRow{Call::create_lease, Verb::create, kLeases, "leases", "", true, Where::own_namespace, "become the active agent"},
    CallRow{Call::update_lease, Verb::update, kLeases, "leases", "", true, Where::own_namespace, "stay the active agent"},
    CallRow{Call::create_access_review, Verb::create, kReviews, "selfsubjectaccessreviews", "", false, Where::cluster, "check these permissions"},
    CallRow{Call::get_namespace, Verb::get, "", "namespaces", "", false, Where::cluster, "identify the cluster by its namespace kube-system"},
};
// clang-format on

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i)
    if (static_cast<std::size_t>(kTable[i].call) != i) return false;
  return true;
}
static_assert(is_in_order(), "row_of() finds a row by the number of its call");

tl::unexpected<Error> refuse(const CallRow& row, std::string_view what, std::string_view text) {
  std::string message = "cannot " + describe(row) + ": ";
  if (text.empty()) {
    message += "the " + std::string(what) + " is missing";
  } else {
    message += quote(text) + " is not a " + std::string(what) +
               " of lower-case letters, digits, '-' and '.'";
  }
  return fail(ErrorCode::invalid_argument, std::move(message));
}

bool needs_name(const CallRow& row) {
  switch (row.verb) {
    case Verb::list:
    case Verb::watch: return false;
    case Verb::create: return !row.subresource.empty();
    case Verb::get:
    case Verb::update:
    case Verb::patch:
    case Verb::remove: return true;
  }
  return true;
}

}  // namespace

std::span<const CallRow> call_table() {
  return kTable;
}

const CallRow& row_of(Call call) {
  return kTable[static_cast<std::size_t>(call)];
}

bool is_for_active_agent(const CallRow& row) {
  if (row.verb == Verb::get || row.verb == Verb::list || row.verb == Verb::watch) return false;
  // A review is answered, and not kept.
  return row.group != kLeases && row.group != kReviews;
}

std::string_view rbac_verb(Verb verb) {
  switch (verb) {
    case Verb::get: return "get";
    case Verb::list: return "list";
    case Verb::watch: return "watch";
    case Verb::create: return "create";
    case Verb::update: return "update";
    case Verb::patch: return "patch";
    case Verb::remove: return "delete";
  }
  return "";
}

std::string_view http_method(Verb verb) {
  switch (verb) {
    case Verb::get:
    case Verb::list:
    case Verb::watch: return "GET";
    case Verb::create: return "POST";
    case Verb::update: return "PUT";
    case Verb::patch: return "PATCH";
    case Verb::remove: return "DELETE";
  }
  return "";
}

std::string describe(const CallRow& row) {
  std::string text = std::string(rbac_verb(row.verb)) + " " + std::string(row.resource);
  if (!row.subresource.empty()) text += "/" + std::string(row.subresource);
  if (!row.group.empty()) text += "." + std::string(row.group);
  return text;
}

Result<std::string> path_of(Call call, std::string_view version, const Target& target) {
  const CallRow& row = row_of(call);
  const bool is_for_one = needs_name(row);
  if (is_for_one != !target.name.empty())
    return is_for_one ? Result<std::string>(refuse(row, "name", ""))
                      : fail(ErrorCode::invalid_argument,
                             "cannot " + describe(row) + " with the name " + quote(target.name));
  if (is_for_one && !is_object_name(target.name)) return refuse(row, "name", target.name);
  std::string path = row.group.empty() ? "/api/" : "/apis/" + std::string(row.group) + "/";
  path += version;
  if (row.namespaced && !target.space.empty()) {
    if (!is_object_name(target.space)) return refuse(row, "namespace", target.space);
    path += "/namespaces/" + target.space;
  } else if (row.namespaced && row.verb != Verb::list && row.verb != Verb::watch) {
    return refuse(row, "namespace", "");
  }
  path += "/" + std::string(row.resource);
  if (is_for_one) path += "/" + target.name;
  if (!row.subresource.empty()) path += "/" + std::string(row.subresource);
  return path;
}

}  // namespace ares::kubernetes
