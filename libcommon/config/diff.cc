#include "config/diff.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/hostlist.h"
#include "config/network.h"
#include "config/shown_webhooks.h"
#include "config/tables.h"

namespace ares::config {
namespace {

using Effects = std::map<std::string, TakesEffect>;

// When the keys of a section take effect; `others` is for those not named.
struct Rule {
  TakesEffect others = TakesEffect::at_once;
  Effects keys{};
};

const Rule kCluster{TakesEffect::never,
                    {{"licenses", TakesEffect::at_once},
                     {"prices", TakesEffect::at_once},
                     {"topology_file", TakesEffect::at_once}}};
const Rule kController{TakesEffect::controller_restart,
                       {{"admins", TakesEffect::at_once},
                        {"operators", TakesEffect::at_once},
                        {"mail_program", TakesEffect::at_once}}};
const Rule kDatabase{TakesEffect::controller_restart, {}};
const Rule kAuth{TakesEffect::controller_restart, {}};
const Rule kAtOnce{};
// Plugins are loaded again whenever the file is read again.
const Rule kScheduler{TakesEffect::at_once, {{"plugin_timeout", TakesEffect::controller_restart}}};
const Rule kNode{TakesEffect::node_restart, {}};
const Rule kLog{TakesEffect::at_once, {{"file", TakesEffect::controller_restart}}};

class Diff {
 public:
  template <class Record>
  void section(const std::string& subject, const std::vector<Field<Record>>& fields,
               const Record& before, const Record& after, const Rule& rule) {
    for (const Field<Record>& field : fields) {
      Change change{
          subject, field.name, field.print(before), field.print(after), TakesEffect::at_once,
          false};
      if (change.before == change.after) continue;
      const auto own = rule.keys.find(field.name);
      change.effect = own == rule.keys.end() ? rule.others : own->second;
      out.push_back(std::move(change));
    }
  }

  std::vector<Change> out;
};

// Groups the names of nodes by their change, in the order of the first node.
class NodeChanges {
 public:
  void add(const std::string& name, const Change& change) {
    for (auto& [known, names] : rows_) {
      if (std::tie(known.field, known.before, known.after, known.effect) !=
          std::tie(change.field, change.before, change.after, change.effect))
        continue;
      names.push_back(name);
      return;
    }
    rows_.emplace_back(change, std::vector{name});
  }
  void move_into(std::vector<Change>& out) {
    for (auto& [change, names] : rows_) {
      change.subject = (names.size() == 1 ? "node " : "nodes ") + compress_hostlist(names);
      out.push_back(std::move(change));
    }
  }

 private:
  std::vector<std::pair<Change, std::vector<std::string>>> rows_;
};

// A node offers more CPUs or memory than it reported, or other GPUs, only after it has registered
// again. What an earlier configuration has cut comes back at once. `reported` null: that is not known.
TakesEffect node_effect(const std::string& field, const Inventory& before, const Inventory& after,
                        const Inventory* reported) {
  const auto has = [&](auto resource) {
    const auto was = before.*resource, is = after.*resource;
    const decltype(is) unset{};  // as much as aresd finds
    return is != unset && (was == unset || is < was || (reported && is <= reported->*resource));
  };
  const bool known = field == "features" || field == "restricted_cores_per_gpu" ||
                     field == "tmp_disk" || (field == "cpus" && has(&Inventory::cpus)) ||
                     (field == "memory" && has(&Inventory::memory));
  return known ? TakesEffect::at_once : TakesEffect::node_restart;
}

void compare_nodes(const Config& running, const Config& next, const ReportedBy& reported_by,
                   Diff& diff) {
  std::vector<Field<NodeEntry>> fields = node_fields();
  std::erase_if(fields, [](const Field<NodeEntry>& field) { return field.name == "name"; });
  std::map<std::string, const ConfiguredNode*> known;
  for (const ConfiguredNode& node : running.nodes) known.emplace(node.name, &node);
  NodeChanges changes;
  for (const ConfiguredNode& node : next.nodes) {
    const auto found = known.find(node.name);
    const NodeEntry after = entry_of(node);
    if (found == known.end()) {
      changes.add(node.name, {"", "", "", print_flow(after, fields)});
      continue;
    }
    const ConfiguredNode& was = *found->second;
    const NodeEntry before = entry_of(was);
    known.erase(found);
    const Inventory* reported = reported_by ? reported_by(node.name) : nullptr;
    for (const Field<NodeEntry>& field : fields) {
      Change change{"",   field.name, field.print(before), field.print(after), TakesEffect::at_once,
                    false};
      if (change.before == change.after) continue;
      change.effect = node_effect(field.name, was.inventory, node.inventory, reported);
      changes.add(node.name, change);
    }
  }
  for (const ConfiguredNode& node : running.nodes)
    if (known.contains(node.name))
      changes.add(node.name, {"", "", print_flow(entry_of(node), fields), ""});
  changes.move_into(diff.out);
}

const Partition* find(const std::vector<Partition>& partitions, const std::string& name) {
  const auto found = std::find_if(partitions.begin(), partitions.end(),
                                  [&](const Partition& p) { return p.name == name; });
  return found == partitions.end() ? nullptr : &*found;
}

void compare_partitions(const Config& running, const std::vector<Partition>& in_force,
                        const Config& next, Diff& diff) {
  const std::vector<Field<Partition>> fields = partition_fields();
  for (const Partition& after : next.partitions) {
    const std::string subject = "partition " + after.name;
    const Partition* before = find(in_force, after.name);
    if (!before) {
      diff.out.push_back({subject, "", "", print_flow(after, fields)});
      continue;
    }
    const Partition* written = find(running.partitions, after.name);
    const std::size_t first = diff.out.size();
    diff.section(subject, fields, *before, after, kAtOnce);
    for (std::size_t i = first; i < diff.out.size(); ++i)
      for (const Field<Partition>& field : fields)
        if (field.name == diff.out[i].field && written)
          diff.out[i].undoes_command = field.print(*written) != diff.out[i].before;
  }
  for (const Partition& before : in_force)
    if (!find(next.partitions, before.name))
      diff.out.push_back({"partition " + before.name, "", print_flow(before, fields), ""});
}

void compare_plugins(const SchedulerConfig& running, const SchedulerConfig& next, Diff& diff) {
  auto fields = scheduler_fields();
  std::erase_if(fields, [](const auto& field) { return field.name == "plugins"; });
  diff.section("scheduler", fields, running, next, kScheduler);
  const auto of_plugin = plugin_fields();
  const auto named = [](const SchedulerConfig& in, const std::string& name) {
    const auto found = std::find_if(in.plugins.begin(), in.plugins.end(),
                                    [&](const PluginConfig& p) { return p.name == name; });
    return found == in.plugins.end() ? nullptr : &*found;
  };
  for (const PluginConfig& after : next.plugins) {
    const PluginConfig* before = named(running, after.name);
    if (before)
      diff.section("plugin " + after.name, of_plugin, *before, after, kAtOnce);
    else
      diff.out.push_back({"plugin " + after.name, "", "", print_flow(after, of_plugin)});
  }
  for (const PluginConfig& before : running.plugins)
    if (!named(next, before.name))
      diff.out.push_back({"plugin " + before.name, "", print_flow(before, of_plugin), ""});
}

void compare_networks(const Policy& running, const Policy& next, Diff& diff) {
  for (const NetworkSpec& after : next.networks.all()) {
    const std::string subject = "topology " + after.name;
    if (const NetworkSpec* before = running.networks.find(after.name))
      diff.section(subject, network_fields(), *before, after, kAtOnce);
    else
      diff.out.push_back({subject, "", "", print_network(after)});
  }
  for (const NetworkSpec& before : running.networks.all())
    if (!next.networks.find(before.name))
      diff.out.push_back({"topology " + before.name, "", print_network(before), ""});
}

std::string name_of(const AccountRow& row) {
  if (row.user.empty()) return "account " + row.account;
  return "user " + row.user + (row.account.empty() ? "" : " of account " + row.account);
}

// Compares row by row, however large the tree is.
void compare_fairness(const Config& running, const Config& next, Diff& diff) {
  const Fairness &before = fairness_of(running), &after = fairness_of(next);
  auto fields = fairness_fields();
  std::erase_if(fields, [](const Field<Fairness>& field) { return field.name == "tree"; });
  diff.section("fairness", fields, before, after, kAtOnce);
  if (before.tree == after.tree) return;
  const auto row_fields = account_fields();
  std::map<std::string, const AccountRow*> known;
  for (const AccountRow& row : before.tree) known.emplace(name_of(row), &row);
  for (const AccountRow& row : after.tree) {
    const std::string subject = name_of(row);
    const auto found = known.find(subject);
    if (found == known.end()) {
      diff.out.push_back({subject, "", "", print_flow(row, row_fields)});
      continue;
    }
    if (*found->second != row) diff.section(subject, row_fields, *found->second, row, kAtOnce);
    known.erase(found);
  }
  for (const AccountRow& row : before.tree)
    if (known.contains(name_of(row)))
      diff.out.push_back({name_of(row), "", print_flow(row, row_fields), ""});
}

}  // namespace

std::vector<Change> diff(const Config& running, const std::vector<Partition>& in_force,
                         const Config& next, const ReportedBy& reported_by) {
  Diff diff;
  diff.section("cluster", cluster_fields(), running, next, kCluster);
  diff.section("controller", controller_fields(), running, next, kController);
  diff.section("database", database_fields(), running.database, next.database, kDatabase);
  diff.section("archive", archive_fields(), running.archive, next.archive, kAtOnce);
  diff.section("retention", retention_fields(), running.retention, next.retention, kAtOnce);
  diff.section("checkpoint", checkpoint_fields(), running.checkpoint, next.checkpoint, kAtOnce);
  diff.section("notify", notify_fields(), without_urls(running.notify), without_urls(next.notify),
               kAtOnce);
  diff.section("submit_hook", submit_hook_fields(), running.submit_hook, next.submit_hook, kAtOnce);
  diff.section("auth", auth_fields(), running.auth, next.auth, kAuth);
  diff.section("policy", policy_fields(), running.policy, next.policy, kAtOnce);
  diff.section("accounting", accounting_fields(), running.policy.accounting, next.policy.accounting,
               kAtOnce);
  compare_nodes(running, next, reported_by, diff);
  compare_networks(running.policy, next.policy, diff);
  compare_partitions(running, in_force, next, diff);
  compare_fairness(running, next, diff);
  compare_plugins(running.scheduler, next.scheduler, diff);
  diff.section("node", node_daemon_fields(), running.node, next.node, kNode);
  diff.section("log", log_fields(), running.log, next.log, kLog);
  return std::move(diff.out);
}

Config keep_until_restart(const Config& running, Config next) {
  next.controller.listen = running.controller.listen;
  next.controller.connect = running.controller.connect;
  next.controller.state_dir = running.controller.state_dir;
  next.controller.user = running.controller.user;
  next.controller.uid = running.controller.uid;
  next.database = running.database;
  next.auth = running.auth;
  next.scheduler.plugin_timeout = running.scheduler.plugin_timeout;
  next.log.file = running.log.file;
  next.policy.config_hash = hash(next);
  return next;
}

}  // namespace ares::config
