// Readiness: queries whether the controller answers and how many nodes are connected to it. Any
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "acluster/layout.h"
#include "base/result.h"

namespace ares::acluster {

struct ControllerStatus {
  std::string state;  // "active"
  std::uint32_t nodes = 0;
  std::uint32_t responding = 0;
};

// One try, at most two seconds.
Result<ControllerStatus> ping(const Layout& layout);

}  // namespace ares::acluster
