// The actions of acluster: up, down, status, env, logs, pid. Each prints its result and returns the
// exit status. Called once, on the only thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "acluster/layout.h"
#include "acluster/settings.h"
#include "base/result.h"

namespace ares::acluster {

// The options of `up`. An absent option keeps the value of the first `up`.
struct UpOptions {
  std::optional<std::uint32_t> nodes, cpus;
  std::optional<std::string> memory, gpus, topology, exec, config;
  std::optional<std::string> kubeconfig, gate_image, image, mount;
  bool isolate = false;
  bool supervise = true;
};

Result<int> up(Layout layout, const UpOptions& options);
Result<int> down(Layout layout);
Result<int> status(Layout layout);
Result<int> env(Layout layout);
Result<int> logs(const Layout& layout, const std::vector<std::string>& roles, bool follow,
                 unsigned lines);
Result<int> pid(const Layout& layout, const std::string& role);

// The main function of the supervisor process.
Result<int> supervise(Layout layout);

}  // namespace ares::acluster
