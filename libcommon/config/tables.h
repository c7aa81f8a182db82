// The tables of ares.yaml's keys: the checks, `actl show config` and the manual page come from the
// same rows. Internal to config/; made on demand, immutable.
#pragma once

#include <string>
#include <vector>

#include "config/fields.h"
#include "config/values.h"

namespace ares::config {

struct GpuSpec {
  std::vector<Gpu> gpus;
  std::string topology;
  friend bool operator==(const GpuSpec&, const GpuSpec&) = default;
};

// One line of `nodes`, which may name several nodes.
struct NodeEntry {
  std::vector<std::string> names;
  std::uint32_t cpus = 0;
  Bytes memory{};
  GpuSpec gpus;
  std::vector<std::string> features;
  std::vector<std::string> gpu_devices;
  std::string gpu_discovery;
  IntervalSet reserved_cpus{};
  Bytes reserved_memory{};
  std::uint32_t restricted_cores_per_gpu = 0;
  Bytes tmp_disk{};  // 0 = not known
};

// A line for that node alone, without its name.
NodeEntry entry_of(const ConfiguredNode& node);
// A node of the line.
ConfiguredNode node_of(const NodeEntry& entry, const std::string& name);
// What is wrong with the CPUs and the memory that the line sets aside; empty: nothing.
std::string wrong_reservation(const NodeEntry& entry);

std::vector<Field<Config>> cluster_fields();  // at the top of the file
std::vector<Field<Config>> controller_fields();
std::vector<Field<DatabaseConfig>> database_fields();
std::vector<Field<ArchiveConfig>> archive_fields();
std::vector<Field<RetentionConfig>> retention_fields();
std::vector<Field<CheckpointConfig>> checkpoint_fields();
std::vector<Field<CheckpointS3Config>> checkpoint_s3_fields();  // of `checkpoint`
std::vector<Field<NotifyConfig>> notify_fields();
std::vector<Field<SmtpConfig>> smtp_fields();        // of `notify`
std::vector<Field<WebhookConfig>> webhook_fields();  // an item of `notify.webhooks`
std::vector<Field<SubmitHookConfig>> submit_hook_fields();
std::vector<Field<AuthConfig>> auth_fields();
std::vector<Field<Policy>> policy_fields();
std::vector<Field<AccountingPolicy>> accounting_fields();
std::vector<Field<NodeEntry>> node_fields();             // a line of `nodes`
std::vector<Field<Partition>> partition_fields();        // a line of `partitions`
std::vector<Field<PlacementPolicy>> placement_fields();  // of a partition
std::vector<Field<Preemption>> preemption_fields();      // of the policy
std::vector<Field<LaunchGuard>> launch_guard_fields();   // of the policy
std::vector<Field<Expedite>> expedite_fields();          // of the policy
std::vector<Field<DynamicNodes>> dynamic_node_fields();  // an item of `policy.dynamic_nodes`
Type<std::vector<DynamicNodes>> dynamic_nodes_type();
std::vector<Field<Fairness>> fairness_fields();
Field<Partition> partition_billing_field();
std::vector<Field<PriorityWeights>> weight_fields();
std::vector<Field<AccountRow>> account_fields();  // a line of `fairness.tree`
std::vector<Field<SchedulerConfig>> scheduler_fields();
std::vector<Field<PluginConfig>> plugin_fields();  // an item of `scheduler.plugins`
std::vector<Field<NodeConfig>> node_daemon_fields();
std::vector<Field<MockConfig>> mock_fields();
std::vector<Field<KubernetesConfig>> kubernetes_fields();
std::vector<Field<KubernetesGrant>> kubernetes_grant_fields();  // an item of `kubernetes.grants`
std::vector<Field<LogConfig>> log_fields();

// The rules in force; the defaults if the configuration has no such section.
const Fairness& fairness_of(const Config& config);

// Every section in the file's order, with what the manual says about it.
struct Section {
  std::string name;
  std::string help;
};
const std::vector<Section>& sections();

}  // namespace ares::config
