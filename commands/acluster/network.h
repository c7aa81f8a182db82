// --isolate: every node in a network and a mount namespace of its own, joined by a bridge in a namespace that the tool makes.
// Root only. Nothing is changed in the machine's own namespaces; all of it goes with the processes that hold them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "acluster/layout.h"
#include "base/result.h"

namespace ares::acluster {

struct Service;

// failed_precondition when the caller is not root or the tool `ip` is missing.
Status check_isolation();

// Where the controller listens inside the hub namespace, "10.77.0.1:7117": free, for nobody else is in there.
std::string isolated_address();

// The configuration of isolated nodes: the controller by TCP.
std::string node_config(const Layout& layout);

// Adds the services that hold the namespaces.
void add_namespaces(const Layout& layout, const std::vector<std::string>& nodes,
                    std::vector<Service>& services);
bool namespaces_ready(const Layout& layout, const std::vector<std::string>& nodes);
std::vector<std::string> controller_namespaces(const Layout& layout);
std::vector<std::string> node_namespaces(const Layout& layout, const std::string& node);

// What a holder does: makes its namespaces and sleeps until it is killed. `number` is 0 for the hub, else the node's.
int hold_namespace(const Layout& layout, const std::string& name, unsigned number);

}  // namespace ares::acluster
