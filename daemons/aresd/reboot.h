// Runs the site's reboot program (node.reboot_program). Called by the host's thread; does not wait.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace ares::aresd {

// Starts `program` without arguments and without a shell, in a session of its own, with $ARES_NODE_NAME
// and a plain PATH. `failed` is called by another thread if it ends with an error. not_found: there is
// no such program.
Status start_reboot(const std::string& program, const std::string& node,
                    std::function<void(const std::string& why)> failed);

}  // namespace ares::aresd
