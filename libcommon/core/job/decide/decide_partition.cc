// Changing partitions by command.
#include <algorithm>
#include <map>
#include <set>

#include "base/printable.h"
#include "core/accounts/limits/accrual_limits.h"
#include "core/job/checks/partition_fields.h"
#include "core/job/decide/decision_context.h"

namespace ares::core {
namespace {

// The rules for partitions of the configuration also apply to partitions changed by command.
Status check(const ClusterState& state, const Partition& before, const Partition& partition) {
  const auto bad = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "partition " + partition.name + ": " + why);
  };
  if (partition.max_time && partition.default_time && *partition.default_time > *partition.max_time)
    return bad("the default time limit would be above the longest one");
  if (partition.max_nodes && partition.min_nodes > *partition.max_nodes)
    return bad("the fewest nodes of a job would be more than the most");
  std::set<std::string> seen;
  for (const std::string& node : partition.nodes) {
    const NodeId* id = state.node_ids.find(node);
    if (!id || state.nodes.find(*id)->leaving) return bad("Invalid node name specified: " + node);
    if (!seen.insert(node).second) return bad("node " + node + " is named twice");
  }
  // Only a changed QOS must exist: the configuration may name a QOS that is created later.
  const bool other_qos = partition.qos != before.qos && !partition.qos.empty();
  if (other_qos && !find_qos(state.accounting, partition.qos))
    return bad("there is no QOS " + partition.qos + "; aacctmgr add qos " + partition.qos);
  return {};
}

}  // namespace

void preserve_accruals(const DecisionContext& q, const CowMap<std::string, Partition>& after,
                       const Policy& policy_after, Decision& d) {
  bool other_qos = false;
  after.for_each([&](const std::string& name, const Partition& partition) {
    const Partition* before = q.state.partitions.find(name);
    other_qos = other_qos || (before ? before->qos : std::string()) != partition.qos;
  });
  if (!other_qos && &policy_after == &q.policy) return;
  AccrualLimits limits_before(q.state.accounting, q.state.partitions, q.policy),
      limits_after(q.state.accounting, after, policy_after);
  for (const Accruing& kept : accruals_to_preserve(q.state, limits_before, limits_after, q.now))
    d.events.emplace_back(AccrualBegan{kept.key, kept.since});
}

Decision decide_admin(const DecisionContext& q, const Principal& who, const UpdatePartition& c) {
  if (!is_admin(q.policy, who.uid)) {
    return refuse(ErrorCode::permission_denied, "user " + who.user +
                                                    " may not change partitions: only "
                                                    "administrators may");
  }
  if (c.names.empty()) return refuse(ErrorCode::invalid_argument, "no partitions given");
  if (c.fields.empty()) return refuse(ErrorCode::invalid_argument, "nothing to change");
  std::map<std::string, Partition> changed;
  for (const std::string& name : c.names) {
    const Partition* found = q.state.partitions.find(name);
    if (!found) return refuse(ErrorCode::not_found, "Invalid partition name specified: " + name);
    Partition partition = *found;
    for (const std::string& field_name : c.fields) {
      const PartitionField* field = find_partition_field(field_name);
      if (!field)
        return refuse(ErrorCode::invalid_argument,
                      "this controller cannot change " + quote(field_name) + " of a partition");
      field->copy(c.values, partition);
    }
    if (Status good = check(q.state, *found, partition); !good)
      return refuse(good.error().code, good.error().message);
    if (found->is_default && !partition.is_default)
      return refuse(ErrorCode::invalid_argument,
                    "partition " + name + " is the default one: make another the default instead");
    changed.insert_or_assign(name, std::move(partition));
  }
  const auto wants = std::count_if(changed.begin(), changed.end(),
                                   [](const auto& entry) { return entry.second.is_default; });
  if (wants > 1)
    return refuse(ErrorCode::invalid_argument, "only one partition can be the default");
  Decision d;
  const auto emit = [&](const Partition& partition) {
    if (*q.state.partitions.find(partition.name) != partition)
      d.events.emplace_back(PartitionModified{partition});
  };
  for (const auto& [name, partition] : changed) emit(partition);
  Partitions after = q.state.partitions;
  for (const auto& [name, partition] : changed) after.set(name, partition);
  preserve_accruals(q, after, q.policy, d);
  if (wants == 0) return d;
  q.state.partitions.for_each([&](const std::string& name, const Partition& other) {
    if (!other.is_default || changed.contains(name)) return;
    Partition former = other;
    former.is_default = false;
    emit(former);
  });
  return d;
}

Decision decide_admin(const DecisionContext& q, const Principal& who, const Reconfigure& c) {
  if (!is_admin(q.policy, who.uid)) {
    return refuse(ErrorCode::permission_denied, "user " + who.user +
                                                    " may not reconfigure the cluster: only "
                                                    "administrators may");
  }
  return decide_config(q, c.config, c.policy ? *c.policy : q.policy);
}

}  // namespace ares::core
