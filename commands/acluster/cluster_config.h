// The ares.yaml of a private cluster: what the user wants of it, and what acluster must have its way with.
// Pure but for reading the user's file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "acluster/layout.h"
#include "acluster/settings.h"
#include "base/result.h"

namespace ares::acluster {

struct ClusterConfig {
  std::string yaml;
  std::vector<std::string> nodes;  // names, in order
};

// The user's file if there is one (policy, partitions, nodes, whom to make operator), with the nodes of the settings where it
// names none; then sockets, database, spools and state are set to the layout's. `tcp` is where the controller listens for
// isolated nodes. Errors name the user's file and line.
Result<ClusterConfig> make_config(const Layout& layout, const Settings& settings,
                                  const std::optional<std::string>& tcp);

}  // namespace ares::acluster
