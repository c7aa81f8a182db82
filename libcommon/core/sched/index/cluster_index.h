// ClusterIndex: a dense view of nodes, GPU types and partitions, with total and free amounts. Made
// from the immutable state and updated from pass to pass; a pass marks in it what it allocates.
// Owned by a Planner; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/bitset.h"
#include "base/ids.h"
#include "core/sched/index/capacity_buckets.h"
#include "core/sched/index/indexed_node.h"
#include "core/sched/index/node_change_log.h"
#include "core/sched/index/reservation_index.h"
#include "core/topology/cpu_layouts.h"
#include "core/topology/machines.h"
#include "core/topology/network.h"
#include "model/engine/state.h"

namespace ares::core::sched {

class WorkloadHistogram;
class PluginClasses;

// The inventory that the node registered. Until it registers, the configured one, which is enough
// to decide whether a job could ever fit.
const Inventory& inventory_of(const Node& node);
const std::vector<std::string>& features_of(const Node& node);

class ClusterIndex {
 public:
  // The records stay in place as long as a copy of `state` lives. `networks`: the networks that
  // partitions may name; null where the caller does not need them.
  explicit ClusterIndex(const ClusterState& state, const Networks* networks = nullptr);
  // Deleted because demands point to the networks of the index.
  ClusterIndex(const ClusterIndex&) = delete;
  ClusterIndex& operator=(const ClusterIndex&) = delete;

  // Applies the changes between the two states. `allocated` are the nodes that a pass marked; they
  // are read again whether or not the allocation was committed. Returns false if a new index is
  // needed: the set of nodes or GPU types changed, a node has another place in a network by
  // features, or the first node appeared that is exclusive, keeps CPUs for jobs with GPUs, limits its
  // attempts, knows its temporary storage or counts thousandths of CPUs, or the last one disappeared.
  // Precondition: the partitions and reservations are the same.
  bool update(const ClusterState& before, const ClusterState& after,
              std::span<const NodeIndex> allocated);

  // Whether some node is exclusive to a user. Then the user of a job affects where it can run.
  bool by_user() const { return by_user_; }

  // Grows whenever the set of eligible nodes of some job may have changed, or a total has changed.
  std::uint64_t generation() const { return generation_; }

  std::span<const IndexedNode> nodes() const { return nodes_; }
  std::span<IndexedNode> nodes() { return nodes_; }
  std::span<const std::string> gpu_types() const { return gpu_types_; }
  // Free amounts, for searches. A pass that marks an allocation on a node calls update_free() for
  // it.
  const CapacityBuckets& capacity_buckets() const { return capacity_buckets_; }
  // Nodes with all of their CPUs free.
  const Bitset& idle() const { return idle_; }
  const Bitset& sharing() const {
    return sharing_;
    // Nodes with shared GPUs that have capacity left.
  }
  void update_free(NodeIndex node) { refresh_node(node); }
  // Whether the jobs that are on the node now admit the requesting job.
  bool admits(NodeIndex node, const AccessRequest& access) const {
    return (!access.exclusive_user && !restricted_.test(node)) ||
           nodes_[node].tenants.admits(access);
  }

  // Nodes whose free amounts grew.
  const NodeChangeLog& gains() const { return gains_; }
  // Nodes that were read again or marked.
  const NodeChangeLog& changes() const { return changes_; }

  // Number of columns in Amounts.
  std::size_t stride() const { return unrestricted_end() + (cpu_unit_ > 1 ? 1 : 0); }
  // So many CPUs of Amounts are one CPU: 1, or kWholeCpu if some node counts thousandths of CPUs.
  std::int64_t cpu_unit() const { return cpu_unit_; }
  // The CPUs of an inventory, a share or a charge in that unit. If no node counts thousandths any more, those of
  // attempts that began before are rounded up.
  template <class Counted>
  std::int64_t cpus_of(const Counted& counted) const {
    return cpu_unit_ == 1 ? std::int64_t{counted.cpus}
                          : static_cast<std::int64_t>(cpu_thousandths_of(counted));
  }
  // The whole CPUs that hold such an amount.
  std::uint32_t whole_cpus_of(std::int64_t amount) const {
    return static_cast<std::uint32_t>((amount + cpu_unit_ - 1) / cpu_unit_);
  }
  // Sets the CPUs of a share to such an amount.
  void give_cpus(std::int64_t amount, NodeShare& share) const {
    share.cpus = whole_cpus_of(amount);
    share.cpu_thousandths = amount % cpu_unit_ == 0 ? 0 : static_cast<std::uint32_t>(amount);
  }
  // Column that is 1 for nodes that count thousandths of CPUs and 0 for others; none: all count whole CPUs.
  std::optional<std::size_t> exact_column() const {
    return cpu_unit_ > 1 ? std::optional(unrestricted_end()) : std::nullopt;
  }
  // The column behind those of the GPUs.
  std::size_t gpu_end() const { return kFirstGpu + gpu_types_.size(); }
  // Column of the CPUs that jobs of the partition may have on each node; none: all of them.
  std::optional<std::size_t> cpu_share_column(std::string_view partition) const;
  // The same for the partition in which the attempt of the charge runs.
  std::optional<std::size_t> cpu_share_column(const ClusterState& state,
                                              const Charge& charge) const;

  // The column behind those of partitions' CPUs.
  std::size_t cpu_shares_end() const { return gpu_end() + cpu_shares_.size(); }
  // Column of the attempts that a node takes; none: no node limits them. A node without a limit has kAnyNumber there.
  std::optional<std::size_t> attempts_column() const {
    return limits_attempts_ ? std::optional(cpu_shares_end()) : std::nullopt;
  }
  static constexpr std::int64_t kAnyNumber = 1'000'000'000;
  // Column of temporary storage; none: no node knows its own. A node that does not has kAnyMebibytes there.
  std::optional<std::size_t> tmp_disk_column() const {
    return counts_tmp_disk_ ? std::optional(shares_end() - 1) : std::nullopt;
  }
  static constexpr std::int64_t kAnyMebibytes = std::int64_t{1} << 40;
  // The column behind these.
  std::size_t shares_end() const {
    return cpu_shares_end() + (limits_attempts_ ? 1 : 0) + (counts_tmp_disk_ ? 1 : 0);
  }
  // Column of the CPUs that are not kept for jobs with GPUs; none: no node keeps any.
  std::optional<std::size_t> unrestricted_column() const {
    return restricts_cpus_ ? std::optional(shares_end()) : std::nullopt;
  }
  // The column behind it.
  std::size_t unrestricted_end() const { return shares_end() + (restricts_cpus_ ? 1 : 0); }
  // Sets the former column of the node's free amounts, after its CPUs were marked.
  void count_unrestricted(IndexedNode& node) const;

  // Column of the GPU type in Amounts; none for a type that no node has.
  std::optional<std::size_t> gpu_column(std::string_view type) const;
  std::optional<NodeIndex> find(const std::string& name) const;
  std::optional<NodeIndex> find(NodeId id) const;

  // Reservations of the state that the index was made from. A changed reservation needs a new
  // index.
  const ReservationIndex& reservations() const { return reservations_; }

  // Whether the job's QOS allows it more nodes than the limit of the partition.
  bool lifts_max_nodes(const JobSpec& spec) const;

  bool knows_networks() const { return knows_networks_; }
  // Null if there is no network of that name. Valid as long as the index lives.
  const topology::Network* network(const std::string& name) const;
  // A network by features as the features of the nodes make it.
  NetworkSpec described(const NetworkSpec& network) const;

  // Hardware topologies of the nodes. They cache the results of queries.
  topology::Machines& machines() const { return machines_; }

  // The most hardware threads that a core of the partition's nodes has; 1 if it is not known.
  std::uint32_t threads_per_core(const Partition& partition) const;

  // Histogram of the workload, for placement strategies. Owned by the planner; null until it sets
  // one.
  const WorkloadHistogram* workload() const { return workload_; }
  void set_workload(const WorkloadHistogram* workload) { workload_ = workload; }

  // The site's plugins; null if none are used (set_plugins() in place/plugin_classes.h). Demands
  // made before set_plugins() do not use them.
  const PluginClasses* plugin_classes() const { return plugin_classes_.get(); }
  void set_plugin_classes(std::shared_ptr<const PluginClasses> classes) {
    plugin_classes_ = std::move(classes);
  }

  // Nodes of the partition, ascending. Unknown nodes that it names are left out.
  const std::vector<NodeIndex>& members(const Partition& partition);

 private:
  // Returns false if the node has a GPU type without a column.
  bool read(const ClusterState& state, const Node& node, IndexedNode& entry);
  void refresh_node(NodeIndex node);

  std::uint64_t generation_ = 1;
  bool by_user_ = false;
  std::size_t exclusive_nodes_ = 0;
  std::vector<std::string> gpu_types_;  // ascending
  struct CpuShare {
    std::string partition;
    std::uint32_t most = 0;
    std::unordered_set<std::string> nodes;
  };
  std::vector<CpuShare> cpu_shares_;  // ascending by partition
  bool restricts_cpus_ = false;       // a node keeps CPUs for jobs with GPUs
  bool limits_attempts_ = false;      // a node takes only so many attempts at a time
  bool counts_tmp_disk_ = false;      // a node knows its temporary storage
  std::int64_t cpu_unit_ = 1;
  std::vector<IndexedNode> nodes_;
  std::unordered_map<std::string, NodeIndex> by_name_;
  ReservationIndex reservations_;
  std::map<std::string, std::vector<NodeIndex>> members_;
  std::map<std::string, topology::Network> networks_;
  std::vector<NetworkSpec> by_features_;  // those that depend on the nodes
  bool knows_networks_ = false;
  std::vector<std::string> lifting_qos_;  // ascending
  const WorkloadHistogram* workload_ = nullptr;
  std::shared_ptr<const PluginClasses> plugin_classes_;
  CapacityBuckets capacity_buckets_;
  Bitset idle_;
  Bitset sharing_;
  // Nodes whose tenants exclude some jobs that do not need a node exclusively.
  Bitset restricted_;
  NodeChangeLog gains_;
  NodeChangeLog changes_;
  mutable topology::Machines machines_;
  topology::CpuLayouts layouts_;
  mutable std::map<std::string, std::uint32_t> threads_per_core_;  // by partition
};

}  // namespace ares::core::sched
