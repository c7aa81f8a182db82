// Differences between two configurations, and when each takes effect. Pure functions over immutable
// values; any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/config.h"
#include "model/cluster/resources.h"

namespace ares::config {

enum class TakesEffect : std::uint8_t {
  at_once,
  controller_restart,  // of aresctld
  node_restart,        // of the aresd concerned
  never,               // Refused, because it would change the cluster's identity.
};

struct Change {
  std::string subject;  // "partition main", "nodes n[1-4]", "policy"
  std::string field;    // Empty: the whole subject is added or removed.
  std::string before;   // In the syntax of ares.yaml; empty: did not exist.
  std::string after;    // Empty: does not exist any more.
  TakesEffect effect = TakesEffect::at_once;
  bool undoes_command = false;  // The old value had been set by a command.
};

// What the node has reported, whether or not the configuration cuts it; null: it has never registered.
using ReportedBy = std::function<const Inventory*(const std::string& node)>;

// In the file's order; nodes with equal changes share a row. `in_force` are the present partitions,
// including changes made by commands since `running` was applied. `reported_by` none: not known of any node.
std::vector<Change> diff(const Config& running, const std::vector<Partition>& in_force,
                         const Config& next, const ReportedBy& reported_by = {});

// Returns `next` with the values of `running` for everything that takes effect only at a restart:
// the configuration in force after `next` has been applied.
Config keep_until_restart(const Config& running, Config next);

}  // namespace ares::config
