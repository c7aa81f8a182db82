// Expedited return: which failed jobs are served before all others, and which nodes are kept for
// them meanwhile. Used when an attempt ends and when the job is placed again. Pure; any thread.
#pragma once

#include <optional>

#include "model/engine/event.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// Whether the job runs again if its script fails now: it asks for that and has not returned too
// often in a row. An attempt that ran for Expedite::long_run begins the count anew.
bool returns_after_failed_script(const Policy& policy, const Job& job, Time now);

// The event for a job that has just failed and returns first; none for every other job, and once
// nodes are kept for it. Kept are the nodes of its attempt that are still healthy and not kept for
// another job.
std::optional<ExpediteBegan> expedite_of(const ClusterState& state, const Policy& policy,
                                         const Job& job, Time now);

// Whether jobs other than `job` may not start on the node.
bool is_kept_for_another(const ClusterState& state, NodeId node, const JobKey& job);

}  // namespace ares::core
