#include "config/print.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/fnv1a.h"
#include "base/hostlist.h"
#include "config/network.h"
#include "config/tables.h"

namespace ares::config {
namespace {

template <class Record>
std::string print_block(const Record& record, const std::vector<Field<Record>>& fields) {
  std::string out;
  for (const auto& row : fields) {
    const std::string text = row.print(record);
    if (!text.empty()) out += "  " + row.name + ": " + text + "\n";
  }
  return out;
}

// Equal neighbours share a line.
std::string print_nodes(const std::vector<ConfiguredNode>& nodes) {
  std::string out;
  const auto fields = node_fields();
  for (std::size_t i = 0; i < nodes.size();) {
    NodeEntry entry = entry_of(nodes[i]);
    std::size_t end = i;
    for (; end < nodes.size() && nodes[end].inventory == nodes[i].inventory &&
           nodes[end].gpu_topology == nodes[i].gpu_topology &&
           nodes[end].gpu_devices == nodes[i].gpu_devices &&
           nodes[end].gpu_discovery == nodes[i].gpu_discovery &&
           nodes[end].reserved_cpus == nodes[i].reserved_cpus &&
           nodes[end].reserved_memory == nodes[i].reserved_memory;
         ++end)
      entry.names.push_back(nodes[end].name);
    out += "  - " + print_flow(entry, fields) + "\n";
    i = end;
  }
  return out;
}

std::string print_partitions(const std::vector<Partition>& partitions) {
  std::string out;
  const auto fields = partition_fields();
  for (const Partition& partition : partitions)
    out += "  - " + print_flow(partition, fields) + "\n";
  return out;
}

std::string print_cluster(const Config& config) {
  std::string out;
  for (const auto& row : cluster_fields())
    if (const std::string text = row.print(config); !text.empty())
      out += row.name + ": " + text + "\n";
  return out;
}

// What nodes and the controller must agree on.
std::string print_shared(const Config& config, const std::vector<Field<Policy>>& policy) {
  return "policy:\n" + print_block(config.policy, policy) + "accounting:\n" +
         print_block(config.policy.accounting, accounting_fields()) + "nodes:\n" +
         print_nodes(config.nodes) + "partitions:\n" + print_partitions(config.partitions) +
         (config.policy.fairness.value
              ? "fairness:\n" + print_block(fairness_of(config), fairness_fields())
              : "");
}

// Keys of `policy` that release 0.1.0 did not have.
constexpr std::string_view kLaterKeys[] = {
    "dead_node_timeout", "launch_guard",   "max_clock_offset",
    "return_to_service", "resume_timeout", "dynamic_nodes",
    "expedite",          "master_ports",   "enforce_partition_limits"};

// A later key with its default is not part of the hash. Otherwise each upgrade would change the hash,
// and with it undo what `actl update partition` has changed.
std::vector<Field<Policy>> hashed_policy_fields(const Policy& policy) {
  auto fields = policy_fields();
  std::erase_if(fields, [&](const Field<Policy>& field) {
    const bool later =
        std::find(std::begin(kLaterKeys), std::end(kLaterKeys), field.name) != std::end(kLaterKeys);
    return later && field.print(policy) == field.print(Policy{});
  });
  return fields;
}

}  // namespace

std::string to_yaml(const Config& config) {
  return print_cluster(config) + "controller:\n" + print_block(config, controller_fields()) +
         "database:\n" + print_block(config.database, database_fields()) + "archive:\n" +
         print_block(config.archive, archive_fields()) + "retention:\n" +
         print_block(config.retention, retention_fields()) + "checkpoint:\n" +
         print_block(config.checkpoint, checkpoint_fields()) + "notify:\n" +
         print_block(config.notify, notify_fields()) + "submit_hook:\n" +
         print_block(config.submit_hook, submit_hook_fields()) + "auth:\n" +
         print_block(config.auth, auth_fields()) + print_shared(config, policy_fields()) +
         "scheduler:\n" + print_block(config.scheduler, scheduler_fields()) + "node:\n" +
         print_block(config.node, node_daemon_fields()) + "log:\n" +
         print_block(config.log, log_fields());
}

std::string partition_line(const Partition& partition) {
  auto fields = partition_fields();
  std::erase_if(fields, [&](const Field<Partition>& field) {
    return !field.required && field.print(partition) == field.print(Partition{});
  });
  return print_flow(partition, fields);
}

PortableConfig to_portable(const Config& config) {
  Config here = config;
  here.controller.admins.clear();
  here.controller.operators.clear();
  here.controller.user = ControllerConfig{}.user;
  std::string topologies;
  for (const NetworkSpec& network : config.policy.networks.all())
    topologies += "  - " + print_network(network) + "\n";
  return {to_yaml(here), topologies.empty() ? "" : "topologies:\n" + topologies};
}

std::uint64_t hash(const Config& config) {
  std::string text =
      print_cluster(config) + print_shared(config, hashed_policy_fields(config.policy));
  for (const NetworkSpec& network : config.policy.networks.all())
    text += print_network(network) + "\n";
  return fnv1a(text);
}

}  // namespace ares::config
