// The manual page ares.yaml(5), written from the tables of keys.
// Pure function; any thread.
#pragma once

#include <string>

namespace ares::config {

// In the man macro language.
std::string reference_page();

}  // namespace ares::config
