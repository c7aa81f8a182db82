// Service: one process of a cluster, and how to start it. A value of acluster's only thread.
#pragma once

#include <functional>
#include <string>

#include "acluster/process.h"

namespace ares::acluster {

struct Service {
  std::string role;  // "postgres", "aresd@n1"
  // Called for each start, because the namespaces may have changed.
  std::function<Launch()> launch;
  std::function<bool()> may_start;  // Whether the service's dependencies are available.
};

}  // namespace ares::acluster
