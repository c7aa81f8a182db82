// The object Lease (coordination.k8s.io/v1) as JSON. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "exec/kubernetes/agent/lease/agent_lease.h"

namespace ares::kubernetes {

// Where it is.
struct LeasePlace {
  std::string space;    // namespace
  std::string name;     // "ares-CLUSTER"
  std::string cluster;  // Ares' name, as a label
};

LeasePlace lease_place(const std::string& space, const std::string& cluster);

// invalid_argument: it is no object, or has no version.
Result<LeaseRecord> read_lease(std::string_view body);

// The body of the call. `acquired`: when the holder got it.
std::string lease_body(const WriteLease& write, const LeasePlace& place, Duration duration,
                       Time acquired, Time now);

}  // namespace ares::kubernetes
