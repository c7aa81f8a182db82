#include "exec/kubernetes/agent/nodes/node_table.h"

#include <algorithm>
#include <utility>

namespace ares::kubernetes {
namespace {

bool is_same(const exec::FoundNode& a, const exec::FoundNode& b) {
  return a.name == b.name && a.identity == b.identity && a.incarnation == b.incarnation &&
         a.inventory == b.inventory && a.problem == b.problem && a.is_gone == b.is_gone;
}

// More than are removed while one is made again.
constexpr std::size_t kMostRemoved = 4096;

}  // namespace

void NodeTable::set_node(NodeObject node) {
  if (node.name.empty()) return;
  changed_.insert(node.name);
  Entry& entry = nodes_[node.name];
  if (auto earlier = removed_.extract(node.name); !earlier.empty() && entry.node.uid.empty()) {
    entry.node.uid = std::move(earlier.mapped().uid);
    entry.node.incarnation = earlier.mapped().incarnation;
  }
  // Two nodes of a name may have been made within a second, or by the clocks of two API servers.
  if (!entry.node.uid.empty() && entry.node.uid != node.uid)
    node.incarnation = std::max(node.incarnation, entry.node.incarnation + 1);
  else
    node.incarnation = std::max(node.incarnation, entry.node.incarnation);
  entry.node = std::move(node);
  entry.exists = true;
  // A name is of one node at a time, and a uid of one node for ever.
  entry.is_gone = !entry.told_uid.empty() && entry.told_uid != entry.node.uid;
  entry.is_elsewhere = false;
}

void NodeTable::remove_node(const std::string& name) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end()) return;
  it->second.exists = false;
  changed_.insert(name);
}

std::vector<std::pair<std::string, std::string>> NodeTable::missing() const {
  std::vector<std::pair<std::string, std::string>> nodes;
  for (const auto& [name, entry] : nodes_)
    if (!entry.exists && !entry.is_gone && !entry.told.name.empty() && holds_(name, entry.told_uid))
      nodes.emplace_back(name, entry.told_uid);
  return nodes;
}

void NodeTable::found_missing(const std::string& name, const std::string& uid, bool is_gone) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end() || it->second.exists || it->second.told_uid != uid) return;
  it->second.is_gone = is_gone;
  it->second.is_elsewhere = !is_gone;
  changed_.insert(name);
}

void NodeTable::keep_earlier(const std::string& name, const std::string& uid,
                             std::uint64_t incarnation, const Inventory& used) {
  Entry& entry = nodes_[name];
  if (entry.exists && entry.node.uid == uid) return;
  if (entry.told_uid != uid) {
    if (incarnation < entry.told.incarnation) return;
    entry.told = {};
    entry.told.name = settings_.prefix + name;
    entry.told.identity = identity_of(uid);
    entry.told.incarnation = incarnation;
    entry.told_uid = uid;
    entry.is_gone = entry.exists;  // another node has the name
  }
  Inventory& inventory = entry.told.inventory;
  inventory.cpu_thousandths += static_cast<std::uint32_t>(cpu_thousandths_of(used));
  inventory.cpus = std::max(inventory.cpu_thousandths / kWholeCpu, 1u);
  inventory.memory += used.memory;
  entry.node.incarnation = std::max(entry.node.incarnation, incarnation + (entry.exists ? 1 : 0));
  changed_.insert(name);
}

void NodeTable::set_pod(const std::string& uid, const std::string& node, Amounts amounts) {
  amounts.pods = 1;
  const auto it = pods_.find(uid);
  if (it != pods_.end() && it->second.node == node && it->second.amounts == amounts) return;
  remove_pod(uid);
  add(taken_[node], amounts);
  pods_[uid] = {node, std::move(amounts)};
  changed_.insert(node);
}

void NodeTable::remove_pod(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  take(taken_[it->second.node], it->second.amounts);
  changed_.insert(it->second.node);
  pods_.erase(it);
}

void NodeTable::set_problem(std::string problem) {
  if (problem == problem_) return;
  problem_ = std::move(problem);
  for (const auto& [name, entry] : nodes_) changed_.insert(name);
}

void NodeTable::tell(exec::NodeEvents& events) {
  for (const std::string& name : std::exchange(changed_, {})) tell_one(name, events);
}

void NodeTable::tell_one(const std::string& name, exec::NodeEvents& events) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end()) return;
  Entry& entry = it->second;
  const bool is_told = !entry.told.name.empty();
  const bool is_held = is_told && holds_(name, entry.told_uid);
  if (is_held && (!entry.exists || entry.told_uid != entry.node.uid)) {
    exec::FoundNode told = entry.told;
    told.is_gone = entry.is_gone || entry.exists;
    told.problem =
        entry.exists ? "another node has this name now; what runs on the earlier one is not known "
                       "to have ended"
        : entry.is_elsewhere
            ? "not selected by node.kubernetes.node_selector any more"
            : "removed from Kubernetes; what runs there is not known to have ended";
    if (is_same(told, entry.told)) return;
    entry.told = told;
    return events.node_changed(told);
  }
  if (!entry.exists) {
    if (is_told) {
      events.node_removed(entry.told.name, "removed from Kubernetes");
      if (removed_.size() >= kMostRemoved) removed_.clear();
      removed_.insert_or_assign(name, Removed{entry.told_uid, entry.told.incarnation});
    }
    nodes_.erase(it);
    return;
  }
  exec::FoundNode told = found(entry, name);
  if (is_same(told, entry.told)) return;
  entry.told = told;
  entry.told_uid = entry.node.uid;
  entry.is_gone = entry.is_elsewhere = false;
  events.node_changed(told);
}

exec::FoundNode NodeTable::found(const Entry& entry, const std::string& name) const {
  exec::FoundNode node;
  node.name = settings_.prefix + name;
  node.identity = identity_of(entry.node.uid);
  node.incarnation = entry.node.incarnation;
  const auto taken = taken_.find(name);
  bool is_full = false;
  node.inventory = inventory_of(entry.node, taken == taken_.end() ? Amounts() : taken->second,
                                settings_.features, is_full);
  node.inventory.gpu_topology =
      gpu_domain_of(entry.node, settings_.gpu_domain_label, node.inventory.gpus.size());
  node.problem = !problem_.empty() ? problem_ : entry.node.problem;
  if (node.problem.empty() && is_full)
    node.problem = "other pods in Kubernetes have reserved all of it";
  return node;
}

const NodeObject* NodeTable::find(const std::string& host_name) const {
  if (!host_name.starts_with(settings_.prefix)) return nullptr;
  const auto it = nodes_.find(host_name.substr(settings_.prefix.size()));
  return it == nodes_.end() || !it->second.exists ? nullptr : &it->second.node;
}

}  // namespace ares::kubernetes
