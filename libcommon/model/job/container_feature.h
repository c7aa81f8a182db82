// The feature of nodes that run jobs in containers: their agents report it, and jobs that ask for containers require it. A constant.
#pragma once

#include <string_view>

namespace ares {

inline constexpr std::string_view kContainerFeature = "container";

}  // namespace ares
