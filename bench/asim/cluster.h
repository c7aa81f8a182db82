// The cluster to simulate: an ares.yaml, of which nodes, partitions, licences, policy and scheduler plugins are
// used; a list of nodes of the openb trace; or the machine that a log's header describes. Made once before a run.
#pragma once

#include <string>
#include <vector>

#include "asim/workload.h"
#include "base/result.h"
#include "config/config.h"

namespace ares::sim {

// `what`: a file, or "swf" for the log's machine. `policy`: KEY=VALUE pairs for the section policy.
Result<config::Config> read_cluster(const std::string& what, const Workload& workload,
                                    const std::vector<std::string>& policy);

// Loads the configured scheduler plugins like the controller. A plugin's crash ends the simulation.
Status load_plugins(config::Config& config);

// Sets each KEY=VALUE of the section policy.
Status set_policies(config::Config& config, const std::vector<std::string>& policy);

}  // namespace ares::sim
