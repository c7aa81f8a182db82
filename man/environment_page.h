// The manual page ares-environment(7): variables that jobs find, and those that commands read.
// Pure; any thread.
#pragma once

#include <string>

namespace ares {

std::string environment_page();

}  // namespace ares
