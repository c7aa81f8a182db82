#include "acluster/cluster_config.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "acluster/network.h"
#include "base/printable.h"
#include "config/config.h"
#include "core/topology/parsed_topology.h"
#include "os/file.h"

namespace ares::acluster {
namespace {

constexpr const char* kNodePrefix = "kube-";  // of nodes of Kubernetes

bool has_section(const std::string& yaml, const std::string& name) {
  return yaml.starts_with(name + ":") || yaml.find("\n" + name + ":") != std::string::npos;
}

std::string names_of(const Settings& settings) {
  return settings.nodes == 1 ? "n1" : "n[1-" + std::to_string(settings.nodes) + "]";
}

// Sections made from the settings, for those that the user's file leaves out.
std::string defaults(const Settings& settings, const std::string& base) {
  std::string yaml;
  if (!has_section(base, "cluster"))
    yaml += "cluster: " + (settings.name.empty() ? "demo" : settings.name) + "\n";
  if (!has_section(base, "nodes") && settings.nodes > 0) {
    yaml += "nodes:\n  - {name: \"" + names_of(settings) +
            "\", cpus: " + std::to_string(settings.cpus) + ", memory: " + settings.memory;
    if (!settings.gpus.empty()) yaml += ", gpus: \"" + settings.gpus + "\"";
    if (!settings.topology.empty()) yaml += ", gpus: {topology: \"" + settings.topology + "\"}";
    yaml += "}\n";
  }
  if (!has_section(base, "partitions"))
    yaml += "partitions:\n  - {name: main, nodes: \"" +
            (has_section(base, "nodes") || settings.nodes == 0 ? std::string("ALL")
                                                               : names_of(settings)) +
            "\", default: true}\n";
  return yaml;
}

// Checked here because the error of a node's daemon would only appear in its log.
Status check_topologies(const config::Config& config) {
  std::set<std::string> files;
  for (const auto& node : config.nodes)
    if (!node.gpu_topology.empty()) files.insert(node.gpu_topology);
  for (const std::string& file : files) {
    const auto text = os::read_file(file);
    if (!text) return fail(text.error());
    if (const auto parsed = core::topology::read_topology(*text, ""); !parsed)
      return fail(parsed.error().code, file + ": " + parsed.error().message);
  }
  return {};
}

// Lets the nodes of Kubernetes join, unless the user's file says under which partitions they do. They join the default partition.
void let_join(config::Config& config, const std::string& prefix) {
  for (const DynamicNodes& rule : config.policy.dynamic_nodes)
    if (rule.prefix == prefix) return;
  std::string partition = config.partitions.empty() ? "" : config.partitions.front().name;
  for (const Partition& one : config.partitions)
    if (one.is_default) partition = one.name;
  DynamicNodes rule;
  rule.prefix = prefix;
  rule.partitions = {partition};
  config.policy.dynamic_nodes.push_back(std::move(rule));
}

Status use_kubernetes(config::Config& config, const Settings& settings) {
  config::KubernetesConfig& kubernetes = config.node.kubernetes;
  kubernetes.kubeconfig = settings.kubeconfig;
  if (!settings.gate_image.empty()) kubernetes.gate_image = settings.gate_image;
  if (!settings.image.empty()) kubernetes.image = settings.image;
  if (!settings.mount.empty()) kubernetes.mounts = {settings.mount};
  if (kubernetes.node_prefix.empty()) kubernetes.node_prefix = kNodePrefix;
  // Who runs this cluster as root also submits to it as root.
  if (::geteuid() == 0) kubernetes.allow_root = true;
  if (kubernetes.gate_image.empty())
    return fail(ErrorCode::invalid_argument,
                "--kubernetes needs --gate-image=IMAGE, an image with the program /ares-gate: see "
                "ares-kubernetes(7)");
  let_join(config, kubernetes.node_prefix);
  return {};
}

// The first line of a file that acluster wrote, also in earlier releases.
constexpr std::string_view kMark = "# Written by acluster";

std::string written(const config::Config& config) {
  return std::string(kMark) + " from its options; once it is changed by hand, up keeps it.\n" +
         config::to_yaml(config);
}

std::string_view without_mark(std::string_view text) {
  if (text.starts_with(kMark)) text.remove_prefix(std::min(text.size(), text.find('\n')));
  return text;
}

std::vector<std::string> addresses(const Layout& layout, const std::optional<std::string>& tcp) {
  std::vector<std::string> all = {"unix:" + layout.controller_socket};
  if (tcp) all.push_back("tcp:" + *tcp);
  return all;
}

// What acluster relies on when it starts and asks the daemons, but for the addresses.
void set_places(config::Config& config, const Layout& layout, const Settings& settings) {
  config.controller.connect = addresses(layout, std::nullopt);
  config.controller.state_dir = layout.state();
  config.controller.user = std::to_string(::geteuid());
  config.controller.uid = UserId(::geteuid());
  config.database.host = layout.postgres_run;
  config.database.port = 5432;
  config.database.name = "ares";
  config.database.user = "ares";
  config.auth.munge_socket = layout.munge_socket;
  config.node.spool = layout.spool() + "/%n";
  config.node.exec = settings.exec;
}

// The first lines in which two configurations differ, without their indentation; none if they are the same.
std::optional<std::pair<std::string, std::string>> first_difference(const std::string& a,
                                                                    const std::string& b) {
  const auto plain = [](const std::string& line) {
    return line.substr(std::min(line.size(), line.find_first_not_of(' ')));
  };
  std::istringstream lines_a(a), lines_b(b);
  for (std::string line_a, line_b; std::getline(lines_a, line_a) && std::getline(lines_b, line_b);)
    if (line_a != line_b) return std::pair(plain(line_a), plain(line_b));
  return std::nullopt;
}

Result<ClusterConfig> finish(const Layout& layout, const Settings& settings,
                             config::Config config) {
  ClusterConfig result{written(config), {}};
  for (const auto& node : config.nodes) result.nodes.push_back(node.name);
  if (settings.kubeconfig.empty()) return result;
  config.node.exec = "kubernetes";
  result.kubernetes_yaml = written(config);
  // Such as a mount that is refused, or a node of the user's file with such a name.
  if (const auto read = config::parse(result.kubernetes_yaml, layout.kubernetes_config()); !read)
    return fail(read.error());
  return result;
}

}  // namespace

bool is_changed_by_hand(const Layout& layout, const std::optional<Settings>& before) {
  const auto found = os::read_file(layout.config());
  if (!found) return false;
  if (const auto kept = os::read_file(layout.written_config())) return *found != *kept;
  if (!before) return true;
  // Of a release that kept no copy of what it wrote.
  const auto made = make_config(layout, *before,
                                before->isolate ? std::optional(isolated_address()) : std::nullopt);
  return !made || without_mark(*found) != without_mark(made->yaml);
}

Result<ClusterConfig> read_config(const Layout& layout, const Settings& settings,
                                  const std::optional<std::string>& tcp) {
  auto config = config::load(layout.config());
  if (!config) return fail(config.error());
  if (auto fine = check_topologies(*config); !fine) return fail(fine.error());
  config::Config needed = *config;
  set_places(needed, layout, settings);
  for (const std::string& address : addresses(layout, tcp)) {
    auto& listen = needed.controller.listen;
    if (std::find(listen.begin(), listen.end(), address) == listen.end()) listen.push_back(address);
  }
  if (const auto lines = first_difference(config::to_yaml(*config), config::to_yaml(needed)))
    return fail(ErrorCode::failed_precondition,
                layout.config() + " was changed by hand and says " + excerpt(lines->first) +
                    ", but this cluster works with " + excerpt(lines->second) +
                    " only: write that, or move the file away and have it written anew");
  auto result = finish(layout, settings, *std::move(config));
  if (result) result->by_hand = true;
  return result;
}

Result<ClusterConfig> make_config(const Layout& layout, const Settings& settings,
                                  const std::optional<std::string>& tcp) {
  std::string base;
  if (settings.has_base) {
    auto text = os::read_file(layout.base_config());
    if (!text) return fail(text.error());
    base = *std::move(text);
    if (has_section(base, "nodes") && !has_section(base, "partitions"))
      return fail(ErrorCode::invalid_argument,
                  "the file given to --config names nodes but no partitions; name both or neither");
  }
  // The user's lines come first, so that messages have the line numbers of the user's file.
  const std::string merged = layout.dir + "/merged.yaml";
  if (!base.empty() && !base.ends_with('\n')) base += '\n';
  if (auto written = os::replace_file(merged, base + defaults(settings, base)); !written)
    return fail(written.error());
  auto config = config::load(merged);
  std::error_code ignored;
  std::filesystem::remove(merged, ignored);
  if (!config) {
    Error error = config.error();
    if (error.message.starts_with(merged)) error.message.replace(0, merged.size(), "--config file");
    return fail(std::move(error));
  }

  if (auto fine = check_topologies(*config); !fine) return fail(fine.error());
  set_places(*config, layout, settings);
  config->controller.listen = addresses(layout, tcp);
  if (config->archive.dir == config::ArchiveConfig{}.dir)
    config->archive.dir = layout.dir + "/archive";
  config->database.password_file.clear();
  config->node.stepd.clear();
  config->log.file.clear();

  if (!settings.kubeconfig.empty())
    if (Status used = use_kubernetes(*config, settings); !used) return fail(used.error());
  return finish(layout, settings, *std::move(config));
}

}  // namespace ares::acluster
