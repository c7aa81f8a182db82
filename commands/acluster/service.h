// Service: one process of a cluster, and how it is started. A value of acluster's only thread.
#pragma once

#include <functional>
#include <string>

#include "acluster/process.h"

namespace ares::acluster {

struct Service {
  std::string role;                 // "postgres", "aresd@n1"
  std::function<Launch()> launch;   // made anew each time: namespaces may have changed
  std::function<bool()> may_start;  // what it needs is there
};

}  // namespace ares::acluster
