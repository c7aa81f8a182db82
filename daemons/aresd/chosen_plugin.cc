#include "aresd/chosen_plugin.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>

#include <spdlog/spdlog.h>

#include "exec/baremetal/baremetal.h"
#include "exec/kubernetes/settings/settings.h"
#include "exec/mock/mock.h"
#include "node/text_fields.h"
#include "os/enforced.h"
#include "os/namespace.h"
#include "os/private_tmp.h"

namespace ares::aresd {
namespace {

int permille(double rate) {
  return static_cast<int>(std::lround(rate * 1000));
}

// The control groups of jobs, with what earlier supervisors left in them
// removed.
os::JobSlice prepare_slice() {
  const Result<os::Hierarchies> own = os::Hierarchies::of_this_process();
  if (!own) return {};
  os::JobSlice slice = os::JobSlice::make(*own, ::getpid());
  slice.remove_leftovers();
  return slice;
}

// Beside the programs where they were built, and where they are installed.
constexpr const char* kFolders[] = {"../plugins/exec", "../" ARES_LIBDIR "/ares/plugins/exec"};

Result<std::string> plugin_file(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (const char* folder : kFolders)
    if (const fs::path path = program.parent_path() / folder / (name + ".so");
        fs::exists(path, error))
      return path.string();
  return fail(ErrorCode::not_found,
              "the exec plugin " + name + ".so is not installed beside " + program.string());
}

kubernetes::Settings kubernetes_settings(const config::KubernetesConfig& from,
                                         const std::string& cluster) {
  kubernetes::Settings settings;
  settings.cluster = cluster;
  settings.kubeconfig = from.kubeconfig;
  settings.context = from.context;
  settings.space = from.space;
  settings.image = from.image;
  settings.gate_image = from.gate_image;
  settings.gate_folder = from.gate_folder;
  settings.calls_per_second = from.calls_per_second;
  settings.node_prefix = from.node_prefix;
  settings.node_selector = from.node_selector;
  settings.mounts = from.mounts;
  settings.features = from.features;
  settings.allow_root = from.allow_root;
  settings.gpu_domain_label = from.gpu_domain_label;
  for (const config::KubernetesGrant& grant : from.grants)
    settings.grants.push_back(
        {grant.users, grant.groups, grant.namespaces, grant.service_accounts});
  return settings;
}

}  // namespace

Result<Plugin> choose_plugin(const config::NodeConfig& node, const std::string& config,
                             const std::string& cluster) {
  Plugin plugin;
  node::FieldWriter options;
  if (node.exec == "baremetal") {
    plugin.table = exec::baremetal_plugin();
    std::string stepd = node.stepd;
    if (stepd.empty())
      stepd = std::filesystem::read_symlink("/proc/self/exe").replace_filename("aresstepd");
    options.put("stepd", stepd);
    if (!node.user_namespaces) options.put("user_namespaces", "no");
    if (!node.private_ipc) options.put("private_ipc", "no");
    if (!config.empty()) options.put("config", config);
    if (!node.private_tmp.empty()) options.put("private_tmp", node.private_tmp);
    const os::NamespaceKind kind = os::namespace_kind();
    if (node.user_namespaces || kind == os::NamespaceKind::privileged) {
      const Status possible = os::can_make_namespace(kind);
      plugin.can_freeze = possible.has_value();
      if (!possible) plugin.why_no_namespaces = possible.error().message;
      plugin.private_ipc = possible && node.private_ipc;
    }
    if (plugin.private_ipc)
      if (const Status possible = os::can_make_own_ipc(kind); !possible)
        plugin.why_shared_ipc = possible.error().message;
    plugin.slice = prepare_slice();
    plugin.enforced = os::enforced_limits(plugin.slice.hierarchies());
  } else if (node.exec == "mock") {
    plugin.table = exec::mock_plugin();
    plugin.can_freeze = plugin.table->can_freeze() != 0;
    plugin.in_memory = true;
    options.put("start_delay_ms", node.mock.start_delay.count())
        .put("run_time_ms", node.mock.run_time.count())
        .put("fail_permille", permille(node.mock.fail_rate))
        .put("launch_fail_permille", permille(node.mock.launch_fail_rate))
        .put("slow_permille", permille(node.mock.slow_rate))
        .put("slow_delay_ms", node.mock.slow_delay.count());
    if (!node.mock.nodes_file.empty()) options.put("nodes_file", node.mock.nodes_file);
    plugin.loss_rate = node.mock.loss_rate;
  } else {
    if (node.exec == "kubernetes") {
      plugin.in_memory = true;
      plugin.options = encode(kubernetes_settings(node.kubernetes, cluster));
    }
    const Result<std::string> file =
        node.exec == "kubernetes" ? plugin_file(node.exec) : Result<std::string>(node.exec);
    if (!file) return fail(file.error());
    auto loaded = plugin::load_exec_plugin(*file);
    if (!loaded) return fail(loaded.error());
    plugin.table = loaded->plugin;
    plugin.can_freeze = plugin.table->can_freeze() != 0;
    plugin.loaded = std::move(*loaded);
  }
  if (plugin.options.empty()) plugin.options = options.take();
  return plugin;
}

bool finds_nodes(const config::NodeConfig& node) {
  return node.exec == "kubernetes" || (node.exec == "mock" && !node.mock.nodes_file.empty());
}

Status can_hide_tmp(const config::Config& config, const Plugin& plugin, const std::string& spool) {
  if (config.node.private_tmp.empty() || plugin.in_memory) return {};
  if (!plugin.why_no_namespaces.empty())
    return fail(ErrorCode::failed_precondition,
                "node.private_tmp in " + config.path +
                    " needs namespaces, which this node cannot make: " + plugin.why_no_namespaces);
  if (os::hidden_by_private_tmp(spool))
    return fail(ErrorCode::invalid_argument,
                "node.spool is " + spool +
                    ", which jobs cannot see: each has a /tmp of its own; "
                    "choose another "
                    "directory, or leave out node.private_tmp in " +
                    config.path);
  return {};
}

void log_shared_groups(const os::JobSlice& slice) {
  std::map<std::string, std::string> groups;
  for (const auto& place : slice.places()) {
    std::string& list = groups[place.stays];
    list += (list.empty() ? "" : " ") + place.hierarchy.own;
  }
  for (const auto& [reason, list] : groups)
    if (!reason.empty())
      spdlog::warn(
          "jobs stay in control groups of aresd and end with them: {} "
          "({}); see CONTROL GROUPS in "
          "ares-node(7)",
          list, reason);
}

}  // namespace ares::aresd
