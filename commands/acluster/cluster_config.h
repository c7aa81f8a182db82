// The ares.yaml of a private cluster: the user's configuration, with the parts that acluster must
// control. Pure except for reading the user's file.
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
  std::vector<std::string> nodes;  // Names, in order, of those on this machine.
  std::string
      kubernetes_yaml{};  // For the daemon that serves the nodes of Kubernetes; empty = none.
  bool by_hand = false;   // The file was changed by hand: it is used as it is, and not written.
};

// Whether the cluster's ares.yaml is not as acluster wrote it. `before`: the settings of the cluster, none if there is no
// cluster yet; then any file there is the user's.
bool is_changed_by_hand(const Layout& layout, const std::optional<Settings>& before);

// The cluster's own ares.yaml after it was changed by hand. Errors name the file and what it must say for acluster.
Result<ClusterConfig> read_config(const Layout& layout, const Settings& settings,
                                  const std::optional<std::string>& tcp);

// Starts from the user's file if there is one (policy, partitions, nodes, operators). Adds the
// nodes of the settings if the file names none, and sets sockets, database, spools and state to the
// paths of the layout. `tcp` is the address on which the controller listens for isolated nodes.
// Errors name the user's file and line.
Result<ClusterConfig> make_config(const Layout& layout, const Settings& settings,
                                  const std::optional<std::string>& tcp);

}  // namespace ares::acluster
