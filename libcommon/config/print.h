// Prints and hashes a configuration. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "config/values.h"

namespace ares::config {

// The configuration in force with defaults filled in, as a file that load() accepts. It contains no
// secrets.
std::string to_yaml(const Config& config);

// An item of `partitions`, without the keys that have their defaults: {name: debug, nodes: "n[1-2]"}.
std::string partition_line(const Partition& partition);

// The configuration for another machine, with the text of topology_file, without the users of this
// machine (admins, operators, the controller's own user).
struct PortableConfig {
  std::string yaml;
  std::string topologies;  // Empty: no networks are described.
};
PortableConfig to_portable(const Config& config);

// Hash of what nodes and the controller must agree on: cluster, policy, accounting, nodes,
// partitions, fairness and networks. Stable between runs and machines.
std::uint64_t hash(const Config& config);

}  // namespace ares::config
