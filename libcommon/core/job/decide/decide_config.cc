// Configuration, activation of a controller, and the administrative state of nodes.
#include <algorithm>

#include "core/cluster/inventory.h"
#include "core/cluster/launch_guard.h"
#include "core/job/decide/decision_context.h"
#include "core/job/decide/end_jobs.h"

namespace ares::core {
namespace {

constexpr std::pair<TresId, std::string_view> kBaseTres[] = {{kTresCpu, "cpu"},
                                                             {kTresMem, "mem"},
                                                             {kTresNode, "node"},
                                                             {kTresBilling, "billing"},
                                                             {kTresGpu, "gres/gpu"}};

// A node that was drained for having too little has enough, now that less is configured.
void settle_size(const Node& node, const Inventory& configured, Events& out) {
  const bool drained = is_set_aside(node) && node.reason.starts_with(kShortfall);
  if (!drained || node.contact == Contact::never) return;
  Node after = node;
  after.configured = configured;
  settle(after, node.guard, node.reported.value_or(node.inventory), out);
}

}  // namespace

Decision decide_admin(const DecisionContext& q, const Principal& who, const UpdateNode& c) {
  if (!is_operator(q.policy, who.uid)) {
    return refuse(
        ErrorCode::permission_denied,
        "user " + who.user + " may not change nodes: only operators and administrators may");
  }
  if (c.names.empty()) return refuse(ErrorCode::invalid_argument, "no nodes given");
  if ((c.admin != AdminState::up || c.reason_only) && c.reason.empty()) {
    return refuse(ErrorCode::invalid_argument,
                  "give a reason: others will want to know why the node is out of service");
  }
  std::vector<const Node*> nodes;
  for (const std::string& name : c.names) {
    const NodeId* id = q.state.node_ids.find(name);
    const Node* node = id ? q.state.nodes.find(*id) : nullptr;
    if (!node) return refuse(ErrorCode::not_found, "Invalid node name specified: " + name);
    if (c.drained_only && node->admin == AdminState::down)
      return refuse(ErrorCode::failed_precondition,
                    "node " + name + " is down, not drained: resume it");
    if (c.reason_only && node->admin == AdminState::up)
      return refuse(ErrorCode::failed_precondition,
                    "node " + name + " is in service: give a state with the reason");
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
  Decision d;
  for (const Node* node : nodes) {
    const AdminState admin = c.reason_only ? node->admin : c.admin;
    const std::string reason = admin == AdminState::up ? std::string{} : c.reason;
    // Resuming a node that is in service ends its trial and forgets its failed launches.
    const bool guarded =
        admin == AdminState::up && (node->guard.on_trial || !node->guard.failures.empty());
    if (node->admin == admin && node->reason == reason && !guarded) continue;
    d.events.emplace_back(NodeAdminSet{node->id, admin, reason, who.uid});
    if (c.admin == AdminState::down) end_jobs_of(q, *node, "was set down: " + c.reason, d);
  }
  return d;
}

Decision decide_config(const DecisionContext& q, const ApplyConfig& c, const Policy& policy_after) {
  ConfigApplied event;
  event.hash = c.hash;
  event.partitions = c.partitions;
  event.lease = c.lease;
  NodeId next = q.state.next_node_id;
  std::size_t staying = 0;
  q.state.nodes.for_each(
      [&](NodeId, const Node& node) { staying += node.leaving || !node.joined.empty() ? 0 : 1; });
  bool same = c.hash == q.state.config_hash && c.lease == q.state.lease &&
              c.partitions.size() == q.state.partitions.size() && c.nodes.size() == staying;
  for (const Partition& partition : c.partitions) {
    const Partition* found = q.state.partitions.find(partition.name);
    same = same && found && (c.keep_changes || *found == partition);
  }
  std::vector<const Inventory*> inventories;
  Events settled;
  for (const auto& [name, inventory] : c.nodes) {
    const NodeId* known = q.state.node_ids.find(name);
    NodeId id = known ? *known : next;
    if (!known) next = next.next();
    const Node* node = known ? q.state.nodes.find(id) : nullptr;
    same = same && node && !node->leaving && node->joined.empty() && node->configured == inventory;
    event.nodes.push_back({id, name, inventory});
    inventories.push_back(&inventory);
    if (node && node->configured != inventory) settle_size(*node, inventory, settled);
  }
  Decision d;
  define_tres(q.state, inventories, d.events);
  CowMap<std::string, Partition> after = q.state.partitions;
  if (!same) {
    after = {};
    for (const Partition& partition : c.partitions) after.set(partition.name, partition);
    d.events.emplace_back(std::move(event));
    std::move(settled.begin(), settled.end(), std::back_inserter(d.events));
  }
  preserve_accruals(q, after, policy_after, d);
  return d;
}

Decision decide_config(const DecisionContext& q, const Activate& c) {
  if (c.epoch < q.state.epoch)
    return refuse(ErrorCode::stale, "this controller's epoch is older than the one recorded");
  Decision d;
  d.events.emplace_back(ControllerActivated{c.epoch, c.host, q.state.next_job_id});
  for (const auto& [id, name] : kBaseTres) {
    if (!q.state.tres.find(std::string(name)))
      d.events.emplace_back(TresDefined{{id, std::string(name)}});
  }
  return d;
}

void define_tres(const ClusterState& state, const std::vector<const Inventory*>& inventories,
                 std::vector<EventBody>& events) {
  TresId next = kFirstDynamicTres;
  state.tres.for_each([&](const std::string&, TresId id) {
    if (id >= next) next = id.next();
  });
  std::vector<std::string> defined;
  for (const Inventory* inventory : inventories) {
    for (const Gpu& gpu : inventory->gpus) {
      std::string name = "gres/gpu:" + gpu.type;
      if (state.tres.find(name) || std::find(defined.begin(), defined.end(), name) != defined.end())
        continue;
      events.emplace_back(TresDefined{{next, name}});
      defined.push_back(std::move(name));
      next = next.next();
    }
  }
}

}  // namespace ares::core
