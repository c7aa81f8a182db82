#include "asim/cluster.h"

#include "asim/gpu_trace.h"
#include "asim/lines.h"
#include "sched/adapter/plugin_set.h"

namespace ares::sim {
namespace {

// The nodes of the log with equal shares of the processors, the first ones with one more if needed.
Result<std::string> machine_of(const Workload& workload) {
  const std::uint64_t cpus = workload.machine_cpus ? workload.machine_cpus : workload.machine_nodes;
  if (cpus == 0)
    return fail(ErrorCode::invalid_argument,
                workload.name +
                    " says neither MaxProcs nor MaxNodes; describe the cluster in a file for "
                    "--cluster");
  const std::uint64_t nodes =
      workload.machine_nodes ? std::min<std::uint64_t>(workload.machine_nodes, cpus) : cpus;
  const std::uint64_t each = cpus / nodes, more = cpus % nodes;
  std::string text = "nodes:\n";
  const auto add = [&](std::uint64_t from, std::uint64_t to, std::uint64_t of) {
    if (from > to) return;
    text += "  - {name: \"n[" + std::to_string(from) + "-" + std::to_string(to) +
            "]\", cpus: " + std::to_string(of) + "}\n";
  };
  add(1, more, each + 1);
  add(more + 1, nodes, each);
  return text + "partitions:\n  - {name: all, nodes: ALL}\n";
}

Result<config::Config> describe(const std::string& what, const Workload& workload) {
  if (what == "swf")
    return machine_of(workload).and_then(
        [&](const std::string& text) { return config::parse(text, workload.name); });
  if (what.ends_with(".csv") || what.ends_with(".csv.gz")) {
    auto lines = Lines::open(what);
    if (!lines) return fail(lines.error());
    return read_openb_nodes(std::move(*lines)).and_then([&](const std::string& text) {
      return config::parse(text, what);
    });
  }
  return config::load(what);
}

}  // namespace

Status load_plugins(config::Config& config) {
  std::vector<sched::PluginSource> sources;
  for (const config::PluginConfig& plugin : config.scheduler.plugins)
    sources.push_back({plugin.name, plugin.path, plugin.partitions, plugin.options});
  if (sources.empty()) return {};
  auto set = sched::PluginSet::load(std::move(sources), nullptr);
  if (!set) {
    const config::PluginConfig& refused = config.scheduler.plugins[set.error().source];
    return fail(set.error().error.code, config.path + ":" + std::to_string(refused.line) +
                                            ": scheduler plugin \"" + refused.name +
                                            "\": " + set.error().error.message);
  }
  config.policy.plugins.value = *std::move(set);
  return {};
}

Status set_policies(config::Config& config, const std::vector<std::string>& policy) {
  for (const std::string& setting : policy) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos)
      return fail(ErrorCode::invalid_argument,
                  "--policy: \"" + setting + "\" is not KEY=VALUE, as in backfill=conservative");
    if (Status set =
            config::set_policy(config, setting.substr(0, equals), setting.substr(equals + 1));
        !set)
      return fail(ErrorCode::invalid_argument, "--policy: " + set.error().message);
  }
  return {};
}

Result<config::Config> read_cluster(const std::string& what, const Workload& workload,
                                    const std::vector<std::string>& policy) {
  auto config = describe(what, workload);
  if (!config) return config;
  for (const config::ConfiguredNode& node : config->nodes)
    if (node.inventory.cpus == 0 || !node.gpu_topology.empty())
      return fail(
          ErrorCode::invalid_argument,
          what + ": node " + node.name +
              " takes what it has from the machine itself; a simulation needs its cpus (and "
              "memory and gpus, if any) written down");
  if (Status set = set_policies(*config, policy); !set) return fail(set.error());
  if (Status loaded = load_plugins(*config); !loaded) return fail(loaded.error());
  return config;
}

}  // namespace ares::sim
