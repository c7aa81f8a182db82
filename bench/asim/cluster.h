// The cluster to simulate: an ares.yaml, of which nodes, partitions, licences, policy and scheduler plugins are
// used; a list of nodes of the openb trace; or the machine that a log's header describes. Made once before a run.
#pragma once

#include <string>
#include <vector>

#include "asim/workload.h"
#include "base/result.h"
#include "config/config.h"

namespace ares::sim {

// `what`: a file, or "swf" for the machine of the workload's log. `policy`: KEY=VALUE pairs that override the section policy.
Result<config::Config> read_cluster(const std::string& what, const Workload& workload,
                                    const std::vector<std::string>& policy);

// Loads the scheduler plugins of the configuration, as the controller does. A plugin that crashes ends the simulation.
Status load_plugins(config::Config& config);

// Sets each KEY=VALUE of the section policy.
Status set_policies(config::Config& config, const std::vector<std::string>& policy);

}  // namespace ares::sim
