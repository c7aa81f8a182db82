// Settings: what a private cluster is made of, as given to its first `acluster up` and kept beside its data.
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::acluster {

struct Settings {
  std::uint32_t nodes = 4;
  std::uint32_t cpus = 4;          // of each node
  std::string memory = "4000M";    // of each node
  std::string gpus;                // "a100:4" on each node; empty = none
  std::string topology;            // absolute path of a file that lists the GPUs; empty = none
  std::string exec = "baremetal";  // or mock, or the path of a plugin
  bool isolate = false;
  bool has_base = false;  // a configuration of the user's was given, and copied
  friend bool operator==(const Settings&, const Settings&) = default;
};

std::string to_text(const Settings& settings);
Result<Settings> parse_settings(std::string_view text);

// What can be wrong with them, whatever the machine: invalid_argument.
Status check(const Settings& settings);

}  // namespace ares::acluster
