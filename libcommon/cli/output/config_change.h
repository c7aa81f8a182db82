// Changes of a configuration as lines of text, for `actl reconfigure` and the controller's log.
// Pure functions; any thread.
#pragma once

#include <string>

#include "proto/gen/api.pb.h"

namespace ares::cli {

// "partition main: max_time: 1-00:00:00 -> 2-00:00:00 (undoes a command)".
std::string change_text(const api::ConfigChange& change);

}  // namespace ares::cli
