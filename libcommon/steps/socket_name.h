// Where arun finds the steps of its job: a Unix stream socket in the directory of the attempt.
#pragma once

#include <string_view>

namespace ares::steps {

inline constexpr const char* kSocketName = "steps";

// What the node daemon writes there together with a connection of another node's step host. Frames begin
// otherwise.
inline constexpr std::string_view kHandedOver = "handed over\n";

}  // namespace ares::steps
