// The ClusterRoles that the agent needs, made from the table of calls (calls.h). etc/kubernetes/cluster_roles.yaml is this text.
// Pure; any thread.
#pragma once

#include <string>

#include "exec/kubernetes/api/calls.h"

namespace ares::kubernetes {

// Three documents: ares-agent for the whole cluster, ares-agent-jobs for each namespace of jobs, ares-agent-own for the agent's
// own namespace.
std::string cluster_roles();

const char* role_name(Where where);

}  // namespace ares::kubernetes
