#include "config/read.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/printable.h"
#include "config/network.h"
#include "config/print.h"
#include "config/tables.h"

namespace ares::config {
namespace {

const std::string kAll = "ALL";

// A line of a few bytes may describe 100,000 nodes. All lines together describe at most so many nodes, with so many GPUs and bytes of
// features, and partitions have at most so many members.
constexpr std::size_t kMostNodes = 200'000;
constexpr std::size_t kMostGpus = 2'000'000;
constexpr std::size_t kMostFeatureBytes = 64 << 20;
constexpr std::size_t kMostMembers = 2'000'000;

CheckResult too_many(int line, std::size_t most, std::string_view what) {
  return problem(line, "more than " + std::to_string(most) + " " + std::string(what));
}

// Reads every item of a list of maps into a new Record.
template <class Record, class Take>
CheckResult read_items(const Value& list, const std::vector<Field<Record>>& fields, Take take) {
  if (list.kind == Value::Kind::null) return {};
  if (list.kind != Value::Kind::list)
    return problem(list.line, "expected a list; begin each item with \"- \"");
  for (const Value& item : list.items) {
    if (item.kind != Value::Kind::map) return problem(item.line, "expected {name: ..., ...}");
    Record record;
    CheckResult done = read_map(item, record, fields);
    if (!done) return done;
    done = take(std::move(record), item.line);
    if (!done) return done;
  }
  return {};
}

CheckResult read_nodes(const Value& list, Config& config) {
  std::set<std::string> seen;
  std::size_t gpus = 0, feature_bytes = 0;
  return read_items(list, node_fields(), [&](NodeEntry entry, int line) -> CheckResult {
    gpus += entry.names.size() * entry.gpus.gpus.size();
    for (const std::string& feature : entry.features)
      feature_bytes += entry.names.size() * (sizeof(std::string) + feature.size());
    if (config.nodes.size() + entry.names.size() > kMostNodes)
      return too_many(line, kMostNodes, "nodes");
    if (gpus > kMostGpus) return too_many(line, kMostGpus, "GPUs of all nodes together");
    if (feature_bytes > kMostFeatureBytes)
      return too_many(line, kMostFeatureBytes, "bytes of features of all nodes together");
    if (entry.names.empty()) return problem(line, "name: empty; give a node's name");
    if (const std::size_t files = entry.gpu_devices.size();
        files > 0 && entry.gpus.topology.empty() && entry.gpu_discovery.empty() &&
        files != entry.gpus.gpus.size())
      return problem(line, "gpu_devices: " + std::to_string(files) + " for " +
                               std::to_string(entry.gpus.gpus.size()) +
                               " GPUs; list one item for each GPU");
    if (!entry.gpus.topology.empty() && !entry.gpu_discovery.empty())
      return problem(line,
                     "gpu_discovery: gpus takes the GPUs from a file already; leave one of "
                     "them out");
    if (const std::string wrong = wrong_reservation(entry); !wrong.empty())
      return problem(line, wrong);
    for (const std::string& name : entry.names) {
      if (name == kAll) return problem(line, "name: ALL is not a node's name");
      if (!seen.insert(name).second)
        return problem(line, "node " + quote(name) + " is described a second time");
      config.nodes.push_back(node_of(entry, name));
    }
    return {};
  });
}

CheckResult read_partitions(const Value& list, Config& config, std::vector<int>& lines) {
  std::size_t members = 0;
  return read_items(list, partition_fields(), [&](Partition partition, int line) -> CheckResult {
    members += partition.nodes.size();
    if (members > kMostMembers)
      return too_many(line, kMostMembers, "nodes of all partitions together");
    config.partitions.push_back(std::move(partition));
    lines.push_back(line);
    return {};
  });
}

CheckResult check_partitions(Config& config, const std::vector<int>& lines) {
  std::vector<std::string> names;
  for (const ConfiguredNode& node : config.nodes) names.push_back(node.name);
  const std::set<std::string> known(names.begin(), names.end());
  std::set<std::string> seen;
  const Partition* chosen = nullptr;
  std::size_t in_all = 0;
  for (std::size_t i = 0; i < config.partitions.size(); ++i) {
    Partition& partition = config.partitions[i];
    const std::string which = "partition " + quote(partition.name);
    in_all += partition.nodes == std::vector{kAll} ? names.size() : partition.nodes.size();
    if (in_all > kMostMembers)
      return too_many(lines[i], kMostMembers, "nodes of all partitions together");
    if (!seen.insert(partition.name).second)
      return problem(lines[i], which + " is described a second time");
    if (partition.nodes == std::vector{kAll}) partition.nodes = names;
    std::set<std::string> members;
    for (const std::string& node : partition.nodes) {
      if (!known.contains(node))
        return problem(lines[i],
                       which + " names the unknown node " + quote(node) + suggestion(node, names));
      if (!members.insert(node).second)
        return problem(lines[i], which + " names node " + quote(node) + " twice");
    }
    if (partition.max_time && partition.default_time &&
        *partition.default_time > *partition.max_time)
      return problem(lines[i], which + ": default_time is longer than max_time");
    if (partition.max_nodes && partition.min_nodes > *partition.max_nodes)
      return problem(lines[i], which + ": min_nodes is more than max_nodes");
    if (partition.is_default && chosen)
      return problem(lines[i], which + " and " + quote(chosen->name) +
                                   " are both the default; keep one \"default: true\"");
    if (partition.is_default) chosen = &partition;
  }
  if (chosen) return {};
  if (config.partitions.size() == 1) {
    config.partitions.front().is_default = true;
    return {};
  }
  if (config.partitions.empty())
    return problem(1, "no partition; describe at least one under \"partitions\"");
  return problem(lines.front(), "no default partition; write \"default: true\" in one of them");
}

CheckResult check_backfill(const Config& config, int line) {
  std::vector<std::string> names;
  for (const Partition& partition : config.partitions) names.push_back(partition.name);
  for (const auto& [name, rule] : config.policy.backfill_of)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return problem(line,
                     "backfill_of: there is no partition " + quote(name) + suggestion(name, names));
  return {};
}

CheckResult read_fairness(const Value& value, Config& config) {
  Fairness fairness;
  if (CheckResult done = read_map(value, fairness, fairness_fields()); !done) return done;
  if (fairness.calc_period < Seconds(1))
    return problem(value.line, "calc_period: must be at least a second");
  if (fairness != Fairness{})
    config.policy.fairness.value = std::make_shared<const Fairness>(std::move(fairness));
  return {};
}

CheckResult check_fairness(const Config& config, int line) {
  std::vector<std::string> names;
  for (const Partition& partition : config.partitions) names.push_back(partition.name);
  for (const auto& [name, policy] : fairness_of(config).partitions)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return problem(line,
                     "partitions: there is no partition " + quote(name) + suggestion(name, names));
  return {};
}

CheckResult check_scheduler(const SchedulerConfig& scheduler, const Config& config, int line) {
  if (scheduler.plugin_timeout < Seconds(1))
    return problem(line, "plugin_timeout: must be at least a second");
  std::vector<std::string> names;
  for (const Partition& partition : config.partitions) names.push_back(partition.name);
  for (const PluginConfig& plugin : scheduler.plugins)
    for (const std::string& name : plugin.partitions)
      if (std::find(names.begin(), names.end(), name) == names.end())
        return problem(plugin.line, "plugin " + quote(plugin.name) + ": there is no partition " +
                                        quote(name) + suggestion(name, names));
  return {};
}

CheckResult resolve(const std::vector<std::string>& names, int line, const char* key,
                    const FindUser& find_user, std::vector<UserId>& out) {
  for (const std::string& name : names) {
    const auto uid = find_user(name);
    if (!uid)
      return problem(line,
                     std::string(key) + ": there is no user " + quote(name) + " on this machine");
    out.push_back(*uid);
  }
  return {};
}

CheckResult resolve_users(Config& config, int line, const FindUser& find_user) {
  const auto uid = find_user(config.controller.user);
  if (!uid)
    return problem(line,
                   "user: there is no user " + quote(config.controller.user) + " on this machine");
  config.controller.uid = *uid;
  config.policy.admins = {*uid};
  CheckResult done =
      resolve(config.controller.admins, line, "admins", find_user, config.policy.admins);
  if (!done) return done;
  return resolve(config.controller.operators, line, "operators", find_user,
                 config.policy.operators);
}

// The times of failures are part of the node's record.
constexpr std::uint32_t kMostGuardFailures = 1'000;

CheckResult check_policy(const Policy& policy, int line) {
  if (policy.lease < Seconds(1)) return problem(line, "lease: must be at least a second");
  if (policy.heartbeat < Seconds(1)) return problem(line, "heartbeat: must be at least a second");
  if (policy.heartbeat * 2 > policy.lease)
    return problem(
        line, "lease: must be at least twice the heartbeat, or every lost message costs a job");
  const LaunchGuard& guard = policy.launch_guard;
  if (guard.failures > kMostGuardFailures)
    return problem(line, "launch_guard: failures: at most " + std::to_string(kMostGuardFailures));
  if (guard.failures > 0 && (guard.window < Seconds(1) || guard.retry_after < Seconds(1)))
    return problem(line, "launch_guard: window and retry_after must be at least a second");
  if (policy.return_to_service > kReturnAlways)
    return problem(line, "return_to_service: must be 0, 1 or 2");
  if (policy.resume_timeout < Seconds(1))
    return problem(line, "resume_timeout: must be at least a second");
  return {};
}

const Partition* find_partition(const Config& config, const std::string& name) {
  const auto found = std::find_if(config.partitions.begin(), config.partitions.end(),
                                  [&](const Partition& p) { return p.name == name; });
  return found == config.partitions.end() ? nullptr : &*found;
}

// The partitions must exist, and the names must not be those of configured nodes.
CheckResult check_dynamic_nodes(const Config& config, int line) {
  std::set<std::string_view> configured;
  for (const ConfiguredNode& node : config.nodes) configured.insert(node.name);
  for (const DynamicNodes& rule : config.policy.dynamic_nodes) {
    for (const std::string& name : rule.names)
      if (configured.contains(name))
        return problem(line, "dynamic_nodes: node " + quote(name) + " is in nodes as well");
    for (const std::string_view name : configured)
      if (!rule.prefix.empty() && name.starts_with(rule.prefix))
        return problem(line, "dynamic_nodes: node " + quote(name) +
                                 " of nodes begins with the prefix " + quote(rule.prefix));
    for (const std::string& name : rule.partitions)
      if (!find_partition(config, name))
        return problem(line, "dynamic_nodes: there is no partition " + quote(name));
  }
  return {};
}

// A network that lists its nodes has no place for others.
CheckResult check_places_of_dynamic_nodes(const Config& config, int line) {
  for (const DynamicNodes& rule : config.policy.dynamic_nodes)
    for (const std::string& name : rule.partitions) {
      const Partition* partition = find_partition(config, name);
      const NetworkSpec* network =
          partition ? config.policy.networks.find(partition->topology) : nullptr;
      if (network && !network->is_by_features())
        return problem(line, "dynamic_nodes: partition " + quote(name) + " has topology " +
                                 quote(network->name) +
                                 ", which lists its nodes and has no place for others; describe "
                                 "it by features (tree_by, block_by)");
    }
  return {};
}

CheckResult check_programs(const NodeConfig& node, const Policy& policy, int line) {
  if (!node.prolog.empty() && node.prolog_timeout >= policy.prepare_timeout)
    return problem(line,
                   "prolog_timeout: must be shorter than prepare_timeout of policy, in which all "
                   "nodes of a job have to be ready");
  return {};
}

struct Lines {
  int controller = 1;
  int node = 1;
  int policy = 1;
  int fairness = 1;
  int topology_file = 1;
  int scheduler = 1;
  std::vector<int> partitions;
};

CheckResult read_section(const Entry& entry, Config& config, Lines& lines) {
  const Value& value = entry.value;
  if (entry.key == "controller") {
    lines.controller = entry.line;
    return read_map(value, config, controller_fields());
  }
  if (entry.key == "database") return read_map(value, config.database, database_fields());
  if (entry.key == "archive") return read_map(value, config.archive, archive_fields());
  if (entry.key == "retention") return read_map(value, config.retention, retention_fields());
  if (entry.key == "checkpoint") return read_map(value, config.checkpoint, checkpoint_fields());
  if (entry.key == "notify") return read_map(value, config.notify, notify_fields());
  if (entry.key == "submit_hook") return read_map(value, config.submit_hook, submit_hook_fields());
  if (entry.key == "auth") return read_map(value, config.auth, auth_fields());
  if (entry.key == "accounting")
    return read_map(value, config.policy.accounting, accounting_fields());
  if (entry.key == "policy") {
    lines.policy = entry.line;
    return read_map(value, config.policy, policy_fields());
  }
  if (entry.key == "nodes") return read_nodes(value, config);
  if (entry.key == "partitions") return read_partitions(value, config, lines.partitions);
  if (entry.key == "fairness") {
    lines.fairness = entry.line;
    return read_fairness(value, config);
  }
  if (entry.key == "scheduler") {
    lines.scheduler = entry.line;
    return read_map(value, config.scheduler, scheduler_fields());
  }
  if (entry.key == "node") {
    lines.node = entry.line;
    return read_map(value, config.node, node_daemon_fields());
  }
  if (entry.key == "log") return read_map(value, config.log, log_fields());

  std::vector<std::string> known;
  for (const auto& row : cluster_fields()) {
    if (row.name != entry.key) {
      known.push_back(row.name);
      continue;
    }
    if (entry.key == "topology_file") lines.topology_file = entry.line;
    CheckResult done = row.read(config, value);
    return done ? done : problem(entry.line, entry.key + ": " + done.error().message);
  }
  for (const Section& section : sections()) known.push_back(section.name);
  return problem(entry.line, "unknown key " + quote(entry.key) + suggestion(entry.key, known));
}

CheckResult read_root(const Value& root, Config& config, const FindUser& find_user, Lines& lines) {
  if (root.kind != Value::Kind::map)
    return problem(1, "this is no configuration; expected \"key: value\" lines");
  for (const Entry& entry : root.entries)
    if (CheckResult done = read_section(entry, config, lines); !done) return done;
  if (CheckResult done = check_policy(config.policy, lines.policy); !done) return done;
  if (CheckResult done = check_programs(config.node, config.policy, lines.node); !done) return done;
  if (CheckResult done = resolve_users(config, lines.controller, find_user); !done) return done;
  if (config.controller.listen.empty())
    return problem(lines.controller, "listen: the controller needs at least one address");
  return {};
}

// The topology that a partition names must contain all of its nodes, if it lists nodes.
CheckResult check_topologies(const Config& config, const std::vector<int>& lines) {
  std::vector<std::string> names;
  for (const NetworkSpec& network : config.policy.networks.all()) names.push_back(network.name);
  for (std::size_t i = 0; i < config.partitions.size(); ++i) {
    const Partition& partition = config.partitions[i];
    if (partition.topology.empty()) continue;
    const std::string which = "partition " + quote(partition.name);
    if (config.topology_file.empty())
      return problem(lines[i], which + " names a topology, but there is no \"topology_file\"");
    const NetworkSpec* network = config.policy.networks.find(partition.topology);
    if (!network)
      return problem(lines[i], which + " names the unknown topology " + quote(partition.topology) +
                                   suggestion(partition.topology, names));
    if (network->is_by_features()) continue;
    std::set<std::string_view> connected;
    for (const NetworkDomain& domain : network->domains)
      connected.insert(domain.nodes.begin(), domain.nodes.end());
    for (const std::string& node : partition.nodes)
      if (!connected.contains(node))
        return problem(lines[i], which + ": node " + quote(node) + " is nowhere in topology " +
                                     quote(network->name));
  }
  return {};
}

Status read_topology_file(Config& config, int line, const ReadFile& read_other) {
  if (config.topology_file.empty()) return {};
  // An absolute path stays valid when the configuration is copied elsewhere.
  std::error_code unknown;
  const auto place = std::filesystem::path(config.path).parent_path() / config.topology_file;
  const auto absolute = std::filesystem::absolute(place, unknown);
  config.topology_file = (unknown ? place : absolute).lexically_normal().string();
  const auto text = read_other(config.topology_file);
  if (!text)
    return fail(text.error().code, config.path + ":" + std::to_string(line) +
                                       ": topology_file: " + text.error().message);
  std::vector<std::string> nodes;
  for (const ConfiguredNode& node : config.nodes) nodes.push_back(node.name);
  auto networks = read_networks(*text, config.topology_file, nodes);
  if (!networks) return fail(networks.error());
  config.policy.networks = *std::move(networks);
  return {};
}

}  // namespace

Result<Config> read_config(const std::string& text, const std::string& path,
                           const FindUser& find_user, const ReadFile& read_other) {
  Result<Value> root = parse_yaml(text, path);
  if (!root) return fail(root.error());
  Config config;
  config.path = path;
  Lines lines;
  const auto refuse = [&](const CheckResult& done) {
    return fail(ErrorCode::invalid_argument,
                path + ":" + std::to_string(done.error().line) + ": " + done.error().message);
  };
  if (CheckResult done = read_root(*root, config, find_user, lines); !done) return refuse(done);
  if (CheckResult done = check_partitions(config, lines.partitions); !done) return refuse(done);
  if (CheckResult done = check_backfill(config, lines.policy); !done) return refuse(done);
  if (CheckResult done = check_dynamic_nodes(config, lines.policy); !done) return refuse(done);
  if (CheckResult done = check_fairness(config, lines.fairness); !done) return refuse(done);
  if (CheckResult done = check_scheduler(config.scheduler, config, lines.scheduler); !done)
    return refuse(done);
  if (Status done = read_topology_file(config, lines.topology_file, read_other); !done)
    return fail(done.error());
  if (CheckResult done = check_topologies(config, lines.partitions); !done) return refuse(done);
  if (CheckResult done = check_places_of_dynamic_nodes(config, lines.policy); !done)
    return refuse(done);
  config.controller.connect = connect_addresses(config.controller);
  config.policy.config_hash = hash(config);
  return config;
}

Status set_policy(Config& config, const std::string& key, const std::string& value) {
  const std::string given = key + "=" + value;
  const Result<Value> root = parse_yaml(key + ": " + value, given);
  if (!root) return fail(root.error());
  CheckResult done = read_map(*root, config.policy, policy_fields());
  if (done) done = check_policy(config.policy, 1);
  if (done) done = check_backfill(config, 1);
  if (!done) return fail(ErrorCode::invalid_argument, given + ": " + done.error().message);
  config.policy.config_hash = hash(config);
  return {};
}

}  // namespace ares::config
