// Settings of the plugin, as ares.yaml gives them. A value; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::kubernetes {

struct Settings {
  std::string cluster;      // Ares' name; marks what it makes
  std::string kubeconfig;   // a file; empty: the service account of the pod in which the agent runs
  std::string context;      // of the kubeconfig; empty: the current one
  std::string space;        // namespace of the pods
  std::string image;        // of jobs that name none; empty: they have to
  std::string gate_image;   // has /ares-gate
  std::string node_prefix;  // before the names of nodes
  std::string node_selector;            // labels of the nodes to serve; empty: all
  std::vector<std::string> mounts{};    // folders of the nodes that jobs see under the same paths
  std::vector<std::string> features{};  // labels of nodes that become features "LABEL=VALUE"
  bool allow_root = false;              // whether root's jobs run, as root in the container
};

// `key value` lines. invalid_argument: something is missing, or not a name.
std::string encode(const Settings& settings);
Result<Settings> decode_plugin_settings(std::string_view text);

}  // namespace ares::kubernetes
