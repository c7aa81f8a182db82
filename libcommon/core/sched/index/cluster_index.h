// ClusterIndex: a dense view of nodes, GPU types and partitions, with totals and what is free. Made from the immutable state
// and kept up to date from pass to pass; a pass marks in it what it gives away. Owned by a Planner; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bitset.h"
#include "base/ids.h"
#include "core/sched/index/capacity_buckets.h"
#include "core/sched/index/indexed_node.h"
#include "core/sched/index/node_change_log.h"
#include "core/sched/index/reservation_index.h"
#include "core/topology/machines.h"
#include "core/topology/network.h"
#include "model/engine/state.h"

namespace ares::core::sched {

class WorkloadHistogram;
class PluginClasses;

// What the node has, or, until it registers, what the configuration says: enough to say "could fit one day".
const Inventory& inventory_of(const Node& node);
const std::vector<std::string>& features_of(const Node& node);

class ClusterIndex {
 public:
  // The records stay where they are as long as a copy of `state` lives. `networks`: what partitions may name;
  // null where only those are asked who need not know.
  explicit ClusterIndex(const ClusterState& state, const Networks* networks = nullptr);
  ClusterIndex(const ClusterIndex&) = delete;  // demands point to its networks
  ClusterIndex& operator=(const ClusterIndex&) = delete;

  // Takes in what has changed since; `given` are the nodes on which a pass marked something: they are read again whether or
  // not it came to be. False: it cannot, and must be made anew (another set of nodes or GPU types, the first or no node that is kept). Precondition: the
  // partitions and the reservations are the same.
  bool update(const ClusterState& before, const ClusterState& after,
              std::span<const NodeIndex> allocated);

  // Whether somebody keeps a node to itself: then it matters whose job it is.
  bool by_user() const { return by_user_; }

  // Grows whenever another set of nodes may be eligible for somebody, or a total has changed.
  std::uint64_t generation() const { return generation_; }

  std::span<const IndexedNode> nodes() const { return nodes_; }
  std::span<IndexedNode> nodes() { return nodes_; }
  std::span<const std::string> gpu_types() const { return gpu_types_; }
  // What is free, for searches: a pass that has marked something on a node says so with update_free().
  const CapacityBuckets& capacity_buckets() const { return capacity_buckets_; }
  const Bitset& idle() const { return idle_; }  // nodes with all of their CPUs free
  const Bitset& sharing() const {
    return sharing_;
  }  // nodes with shared GPUs that have room for more
  void update_free(NodeIndex node) { refresh_node(node); }
  // Whether whoever is on the node now lets the caller in.
  bool admits(NodeIndex node, const AccessRequest& access) const {
    return (!access.exclusive_user && !restricted_.test(node)) ||
           nodes_[node].tenants.admits(access);
  }

  // Nodes that got more free than they had.
  const NodeChangeLog& gains() const { return gains_; }
  // Nodes of which anything was read again or marked.
  const NodeChangeLog& changes() const { return changes_; }

  std::size_t stride() const { return kFirstGpu + gpu_types_.size(); }

  // Where a GPU type stands in Amounts; nothing for a type that no node has.
  std::optional<std::size_t> gpu_column(std::string_view type) const;
  std::optional<NodeIndex> find(const std::string& name) const;
  std::optional<NodeIndex> find(NodeId id) const;

  // Of the state that the index was made from; a changed reservation needs a new index.
  const ReservationIndex& reservations() const { return reservations_; }

  // Whether its QOS lets it have more nodes than partitions allow.
  bool lifts_max_nodes(const JobSpec& spec) const;

  bool knows_networks() const { return knows_networks_; }
  // Null for a name that there is no network of. It stays where it is as long as the index lives.
  const topology::Network* network(const std::string& name) const;

  // The nodes' machines; what they are asked is remembered there.
  topology::Machines& machines() const { return machines_; }

  // The mix of jobs that strategies look at; the planner's. Null until it gives one.
  const WorkloadHistogram* workload() const { return workload_; }
  void set_workload(const WorkloadHistogram* workload) { workload_ = workload; }

  // The site's plugins; null where none is asked (set_plugins() in place/plugged.h). Demands made before know of none.
  const PluginClasses* plugin_classes() const { return plugin_classes_.get(); }
  void set_plugin_classes(std::shared_ptr<const PluginClasses> classes) {
    plugin_classes_ = std::move(classes);
  }

  // The partition's nodes, ascending. Nodes it names that are not known are left out.
  const std::vector<NodeIndex>& members(const Partition& partition);

 private:
  bool read(const Node& node, IndexedNode& entry);  // false: a GPU type without a column
  void refresh_node(NodeIndex node);

  std::uint64_t generation_ = 1;
  bool by_user_ = false;
  std::size_t exclusive_nodes_ = 0;     // nodes
  std::vector<std::string> gpu_types_;  // ascending
  std::vector<IndexedNode> nodes_;
  std::unordered_map<std::string, NodeIndex> by_name_;
  ReservationIndex reservations_;
  std::map<std::string, std::vector<NodeIndex>> members_;
  std::map<std::string, topology::Network> networks_;
  bool knows_networks_ = false;
  std::vector<std::string> lifting_qos_;  // ascending
  const WorkloadHistogram* workload_ = nullptr;
  std::shared_ptr<const PluginClasses> plugin_classes_;
  CapacityBuckets capacity_buckets_;
  Bitset idle_;
  Bitset sharing_;
  Bitset restricted_;  // nodes that not everybody is let in to who need not be alone
  NodeChangeLog gains_;
  NodeChangeLog changes_;
  mutable topology::Machines machines_;
};

}  // namespace ares::core::sched
