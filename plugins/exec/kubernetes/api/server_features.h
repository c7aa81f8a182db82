// What an API server has: its version, its groups with their versions, and resources, read from its answers. Pure; any thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/kubernetes/api/calls.h"

namespace ares::kubernetes {

struct ServerFeatures {
  unsigned major = 0;
  unsigned minor = 0;
  std::string version;  // as the server writes it: "v1.20.2"
  std::map<std::string, std::vector<std::string>>
      groups;  // with their versions, preferred ones first; "" is the core group
  std::set<std::string>
      resources;  // "pods/binding", "leases.coordination.k8s.io": those of the groups of calls.h

  bool is_at_least(unsigned other_minor) const {
    return major > 1 || (major == 1 && minor >= other_minor);
  }
  bool has(std::string_view group, std::string_view group_version) const;

  // The first of the versions known here that the server has as well; empty: none.
  std::string version_of(std::string_view group) const;

  // Unknown fields are rejected on request (beta and on by default since 1.25).
  bool has_strict_fields() const { return is_at_least(25); }
  // spec.schedulingGates (beta and on by default since 1.27).
  bool has_scheduling_gates() const { return is_at_least(27); }
  // "v1" since 1.21, "v1beta1" before; empty: neither.
  std::string policy_version() const { return version_of("policy"); }

  // unavailable or failed_precondition for a server that lacks what a call of the table needs; it names all of it.
  Status check_calls() const;
};

// Each adds what one answer says. failed_precondition: it is not what an API server answers.
Status add_version(std::string_view body, ServerFeatures& features);        // of /version
Status add_core_versions(std::string_view body, ServerFeatures& features);  // of /api
Status add_groups(std::string_view body, ServerFeatures& features);         // of /apis
Status add_resources(std::string_view body, std::string_view group,
                     ServerFeatures& features);  // of a group's version

}  // namespace ares::kubernetes
