// Ends the jobs of a node that is out of service: an administrator set it down, or it was silent for
// so long that it counts as dead. Internal to core/job; pure, engine thread.
#pragma once

#include <string>

#include "core/job/decide/decision_context.h"

namespace ares::core {

// Jobs fail with node_fail once the node has released them. The word of a lost node is not waited
// for: its attempts with a lease were fenced when it was lost, the others are fenced here. They are
// not requeued, because nothing proves that they do not run. `cause`: for the user, "was set down".
void end_jobs_of(const DecisionContext& q, const Node& node, const std::string& cause, Decision& d);

}  // namespace ares::core
