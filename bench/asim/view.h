// Plans a dump of a production view again (adiag dump-view): what would start, why the rest waits, and whether the plan is the
// controller's own. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ares::sim {

// Prints the plan of the dump in `path`, under the policy it holds with each KEY=VALUE of `policy` over it. failed_precondition if
// nothing was set over it and the plan is another one than the controller's: that is a bug.
Status replay_view(const std::string& path, const std::vector<std::string>& policy, bool json);

}  // namespace ares::sim
