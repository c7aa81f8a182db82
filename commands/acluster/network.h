// --isolate: every node gets its own network, mount and UTS namespaces, connected by a bridge in a
// separate hub namespace. Requires root. The machine's own namespaces are not changed, and the new
// ones vanish with the processes that hold them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "acluster/layout.h"
#include "base/result.h"

namespace ares::acluster {

struct Service;

// Returns failed_precondition if the caller is not root or the program `ip` is missing.
Status check_isolation();

// The controller's address in the hub namespace, "10.77.0.1:7117". The port is free because the
// namespace has no other users.
std::string isolated_address();

// The configuration of isolated nodes: they connect to the controller by TCP.
std::string node_config(const Layout& layout);

// Writes what the nodes have as /etc/hosts.
Status write_hosts(const Layout& layout, const std::vector<std::string>& nodes);

// Adds the services that hold the namespaces.
void add_namespaces(const Layout& layout, const std::vector<std::string>& nodes,
                    std::vector<Service>& services);
bool namespaces_ready(const Layout& layout, const std::vector<std::string>& nodes);
std::vector<std::string> controller_namespaces(const Layout& layout);
std::vector<std::string> node_namespaces(const Layout& layout, const std::string& node);

// Main function of a holder process: creates the namespaces and sleeps until it is killed. `number`
// is 0 for the hub, else the node's number.
int hold_namespace(const Layout& layout, const std::string& name, unsigned number);

}  // namespace ares::acluster
