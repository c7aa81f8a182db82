// Services: the processes of a cluster in start order, and how each is ended. Owned by acluster's
// only thread.
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

inline constexpr const char* kKubernetesRole = "aresd@kubernetes";

std::vector<Service> services_of(const Layout& layout, const Settings& settings,
                                 const ClusterConfig& config, const Postgres& postgres);

// The roles of all recorded processes, running or not, in the order in which they are to be ended.
std::vector<std::string> recorded_roles(const Layout& layout);

// Ends all recorded processes and the job supervisors in the spools: nodes first, then jobs, the
// controller, PostgreSQL and munged. Sends the orderly signal first and SIGKILL after a timeout,
// then removes the records. Also works after a crash of the process that started them.
void stop_everything(const Layout& layout);

}  // namespace ares::acluster
