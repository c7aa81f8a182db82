// A configuration as text again, and its hash. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "config/values.h"

namespace ares::config {

// What is in force, defaults filled in, as a file that load() accepts again. It holds no secrets.
std::string to_yaml(const Config& config);

// The same for another machine, with the text of topology_file beside it, and without the users of this one (admins, operators,
// the controller's own).
struct PortableConfig {
  std::string yaml;
  std::string topologies;  // empty: no networks are described
};
PortableConfig to_portable(const Config& config);

// Of everything nodes and the controller must agree about: policy, nodes and partitions. Stable
// between runs and machines.
std::uint64_t hash(const Config& config);

}  // namespace ares::config
