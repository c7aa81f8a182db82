// The call of the API that carries out an action for a pod. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "exec/kubernetes/agent/pods/pod_attempt.h"
#include "exec/kubernetes/api/client.h"

namespace ares::kubernetes {

// What is known where the pod is.
struct PodPlace {
  const Settings& settings;
  std::string space;       // its namespace
  std::string pod;         // its name
  const NodeObject& node;  // for which it is
  std::vector<std::string>
      hosts{};  // addresses of all pods of the attempt by rank; empty: not known
  Time now{};
};

// `go`: what the action WriteGo writes.
ApiRequest pod_call(const PodAction& action, const PodAttempt& attempt, const PodPlace& place,
                    GateGo& go);

}  // namespace ares::kubernetes
