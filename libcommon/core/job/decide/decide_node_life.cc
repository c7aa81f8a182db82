// Reboots of nodes, and nodes that join and leave without a change of the configuration.
#include <algorithm>

#include "core/cluster/dead_node.h"
#include "core/job/decide/decide_node_life.h"

namespace ares::core {
namespace {

std::optional<Decision> refused_user(const DecisionContext& q, const Principal& who,
                                     const std::vector<std::string>& names) {
  if (!is_operator(q.policy, who.uid))
    return refuse(
        ErrorCode::permission_denied,
        "user " + who.user + " may not change nodes: only operators and administrators may");
  if (names.empty()) return refuse(ErrorCode::invalid_argument, "no nodes given");
  return std::nullopt;
}

const Node* find_node(const ClusterState& state, const std::string& name) {
  const NodeId* id = state.node_ids.find(name);
  return id ? state.nodes.find(*id) : nullptr;
}

Decision no_such_node(const std::string& name) {
  return refuse(ErrorCode::not_found, "Invalid node name specified: " + name);
}

bool has_name(const DynamicNodes& rule, const std::string& name) {
  if (!rule.prefix.empty())
    return name.size() > rule.prefix.size() && name.starts_with(rule.prefix);
  return std::find(rule.names.begin(), rule.names.end(), name) != rule.names.end();
}

bool has_features(const DynamicNodes& rule, const Inventory& inventory) {
  return std::all_of(rule.features.begin(), rule.features.end(), [&](const std::string& feature) {
    return std::find(inventory.features.begin(), inventory.features.end(), feature) !=
           inventory.features.end();
  });
}

// The first one of these names, with these features if they are given.
const DynamicNodes* rule_for(const Policy& policy, const std::string& name,
                             const Inventory* inventory) {
  for (const DynamicNodes& rule : policy.dynamic_nodes)
    if (has_name(rule, name) && (!inventory || has_features(rule, *inventory))) return &rule;
  return nullptr;
}

// By an operator. A controller alone never sets a node down.
bool is_declared_dead(const Node& node) {
  return node.contact == Contact::lost && node.admin == AdminState::down;
}

std::string why_it_stays(const Node& node) {
  if (node.contact != Contact::lost)
    return "jobs run on node " + node.name + ": drain it with actl drain --wait first";
  return "jobs may still run on node " + node.name +
         ", which is lost; if they certainly do not: " + declare_dead_command({&node});
}

std::size_t joined_by(const ClusterState& state, const Policy& policy, const DynamicNodes& rule) {
  std::size_t count = 0;
  state.nodes.for_each([&](NodeId, const Node& node) {
    count += !node.joined.empty() && rule_for(policy, node.name, &node.inventory) == &rule ? 1 : 0;
  });
  return count;
}

}  // namespace

Decision decide_admin(const DecisionContext& q, const Principal& who, const RebootNodes& c) {
  if (auto refusal = refused_user(q, who, c.names)) return *std::move(refusal);
  Decision d;
  for (const std::string& name : c.names) {
    const Node* node = find_node(q.state, name);
    if (!node) return no_such_node(name);
    const bool issued = node->reboot && node->reboot->issued_at;
    if (c.cancel) {
      if (!node->reboot)
        return refuse(ErrorCode::failed_precondition,
                      "no reboot of node " + name + " is requested");
      if (issued)
        return refuse(ErrorCode::failed_precondition, "node " + name + " reboots already");
      d.events.emplace_back(NodeRebootSet{node->id, {}});
      continue;
    }
    if (issued) return refuse(ErrorCode::failed_precondition, "node " + name + " reboots already");
    if (node->contact != Contact::registered)
      return refuse(ErrorCode::failed_precondition,
                    "node " + name + " does not answer, so it cannot be told to reboot");
    NodeReboot reboot;
    reboot.requested_at = q.now;
    reboot.by = who.uid;
    reboot.reason = c.reason;
    reboot.asap = c.asap;
    reboot.after = c.after;
    d.events.emplace_back(NodeRebootSet{node->id, std::move(reboot)});
  }
  return d;
}

Decision decide_admin(const DecisionContext& q, const Principal& who, const DeleteNodes& c) {
  if (auto refusal = refused_user(q, who, c.names)) return *std::move(refusal);
  Decision d;
  for (const std::string& name : c.names) {
    const Node* node = find_node(q.state, name);
    if (!node) return no_such_node(name);
    if (node->joined.empty())
      return refuse(ErrorCode::failed_precondition,
                    "node " + name + " is configured: remove it from ares.yaml and reconfigure");
    if (is_waited_for(q.state, *node) || (!node->charges.empty() && !is_declared_dead(*node)))
      return refuse(ErrorCode::failed_precondition, why_it_stays(*node));
    // Of jobs that do not wait for it. If the machine joins again, it is told to kill what is left of them.
    for (const Charge& charge : node->charges)
      d.events.emplace_back(ChargeCleared{charge.attempt, node->id});
    d.events.emplace_back(NodeLeft{node->id, node->joined});
  }
  return d;
}

Result<NodeJoined> may_join(const DecisionContext& q, const std::string& name,
                            const Inventory& inventory, const Node* known) {
  const DynamicNodes* rule = rule_for(q.policy, name, &inventory);
  if (!rule && rule_for(q.policy, name, nullptr))
    return fail(
        ErrorCode::failed_precondition,
        "node " + name +
            " has not the features of any rule of dynamic_nodes in ares.yaml for that name");
  if (!rule)
    return fail(ErrorCode::not_found,
                "node " + name +
                    " is not configured, and no rule of dynamic_nodes in ares.yaml has that name");
  const std::size_t most = rule->most > 0         ? rule->most
                           : rule->prefix.empty() ? rule->names.size()
                                                  : kMostDynamicNodes;
  if (!known && joined_by(q.state, q.policy, *rule) >= most)
    return fail(ErrorCode::resource_exhausted,
                "node " + name + " cannot join: " + std::to_string(most) +
                    " nodes have joined by that rule of dynamic_nodes, which is as many as may");
  return NodeJoined{known ? known->id : q.state.next_node_id, name, rule->partitions};
}

}  // namespace ares::core
