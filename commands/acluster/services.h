// Services: the processes of a cluster in the order they are started, and how each is ended.
// Owned by acluster's only thread.
#pragma once

#include <string>
#include <vector>

#include "acluster/cluster_config.h"
#include "acluster/layout.h"
#include "acluster/postgres.h"
#include "acluster/service.h"
#include "acluster/settings.h"
#include "base/result.h"

namespace ares::acluster {

std::vector<Service> services_of(const Layout& layout, const Settings& settings,
                                 const ClusterConfig& config, const Postgres& postgres);

// Everything that has a record, whether it runs or not: roles, in the order in which they are to be ended.
std::vector<std::string> recorded_roles(const Layout& layout);

// Ends all that records name and the jobs' supervisors in the spools; nodes first, then jobs, the controller, PostgreSQL,
// munged. Politely, then not. Removes the records. Also after a crash of whoever started them.
void stop_everything(const Layout& layout);

}  // namespace ares::acluster
