// Names of environment variables. A pure function; any thread.
#pragma once

#include <string_view>

namespace ares {

// Letters, digits and '_', not a digit first, as shells have them.
bool is_variable_name(std::string_view name);

}  // namespace ares
