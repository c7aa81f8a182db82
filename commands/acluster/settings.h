// Settings: the size and parts of a private cluster, given to its first `acluster up` and stored
// with its data. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::acluster {

struct Settings {
  std::uint32_t nodes = 4;
  std::uint32_t cpus = 4;          // Per node.
  std::string memory = "4000M";    // Per node.
  std::string gpus;                // "a100:4" on each node; empty = none.
  std::string topology;            // Absolute path of a file that lists the GPUs; empty = none.
  std::string exec = "baremetal";  // "baremetal", "mock", or the path of a plugin.
  bool isolate = false;
  bool has_base = false;  // The user gave a configuration, which was copied.
  // A Kubernetes cluster, whose nodes are served too.
  std::string kubeconfig;  // Absolute path; empty = none.
  std::string gate_image, image, mount;
  std::string name;  // Of the cluster, where it must differ from those of other ones; empty = any.
  friend bool operator==(const Settings&, const Settings&) = default;
};

std::string to_text(const Settings& settings);
Result<Settings> parse_settings(std::string_view text);

// Returns invalid_argument for errors that do not depend on the machine.
Status check(const Settings& settings);

}  // namespace ares::acluster
