// `aresd --confirm-ended ATTEMPT`: an operator confirms that no process of an attempt is left.
// Called by main() instead of serving the node.
#pragma once

#include <string>

#include "base/result.h"

namespace ares::aresd {

// Writes the record `gone`, which the aresd of this spool sees within 2 s. `attempt` is a name such as
// 12.1 or 12_3.1. Errors: the attempt is not in the spool, or its supervisor or reaper lives.
Status confirm_ended(const std::string& spool, const std::string& attempt);

}  // namespace ares::aresd
