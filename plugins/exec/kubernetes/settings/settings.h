// Settings of the plugin, as ares.yaml gives them. A value; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::kubernetes {

// What users may name beside the namespace of all jobs.
struct Grant {
  std::vector<std::string> users{}, groups{};  // names; "*" = all users
  std::vector<std::string> namespaces{}, service_accounts{};
};

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
  std::vector<Grant> grants{};
  std::string gpu_domain_label{};  // of nodes whose GPUs are all connected; empty: none says so
  std::string gate_folder{};       // on each node, made by ares-gate install; empty: none
  std::uint32_t calls_per_second = 1000;  // of the API, on average, at least 1
};

// `key value` lines. invalid_argument: something is missing, or not a name.
std::string encode(const Settings& settings);
Result<Settings> decode_plugin_settings(std::string_view text);

// All namespaces in which there may be pods of jobs, each once.
std::vector<std::string> job_namespaces(const Settings& settings);

// Who asks for a namespace or a service account.
struct GrantedUser {
  std::string name;
  std::vector<std::string> groups;
};

// Whether a grant allows the user the namespace, and the service account in it unless that is empty.
bool is_granted(const Settings& settings, const GrantedUser& user, const std::string& space,
                const std::string& service_account);

}  // namespace ares::kubernetes
