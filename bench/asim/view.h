// Plans a dumped view of a production controller again (adiag dump-view): which jobs start, why the
// others wait, and whether the plan equals the controller's plan. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ares::sim {

// Prints the plan for the dump in `path`, under its policy with each KEY=VALUE of `policy` applied.
// failed_precondition if `policy` is empty and the plan differs from the controller's plan, which is a bug.
Status replay_view(const std::string& path, const std::vector<std::string>& policy, bool json);

}  // namespace ares::sim
