#include "core/sched/index/cluster_index.h"

#include <algorithm>
#include <functional>
#include <set>

#include "model/cluster/network_by_features.h"
#include "model/job/gpu_part.h"

namespace ares::core::sched {
namespace {

// Larger than the number of changes of one pass, so that readers can compute what may have become
// possible since the last pass.
constexpr std::size_t kMaxGains = 4096;
constexpr std::size_t kMaxChanges = 16'384;

std::set<std::string> types_of(const ClusterState& state) {
  std::set<std::string> types;
  state.nodes.for_each([&](NodeId, const Node& node) {
    for (const Gpu& gpu : inventory_of(node).gpus) types.insert(gpu.type);
  });
  return types;
}

bool any_restricts_cpus(const ClusterState& state) {
  bool any = false;
  state.nodes.for_each(
      [&](NodeId, const Node& node) { any = any || topology::restricts_cpus(inventory_of(node)); });
  return any;
}

bool any_limits_attempts(const ClusterState& state) {
  bool any = false;
  state.nodes.for_each(
      [&](NodeId, const Node& node) { any = any || inventory_of(node).max_attempts.has_value(); });
  return any;
}

bool any_counts_tmp_disk(const ClusterState& state) {
  bool any = false;
  state.nodes.for_each(
      [&](NodeId, const Node& node) { any = any || inventory_of(node).tmp_disk.has_value(); });
  return any;
}

bool any_counts_thousandths(const ClusterState& state) {
  bool any = false;
  state.nodes.for_each(
      [&](NodeId, const Node& node) { any = any || inventory_of(node).cpu_thousandths > 0; });
  return any;
}

std::int64_t unrestricted_total(const IndexedNode& node, std::int64_t cpu_unit) {
  const std::size_t kept = node.restricted ? node.restricted->all.count() : 0;
  return std::max<std::int64_t>(node.total[kCpus] - static_cast<std::int64_t>(kept) * cpu_unit, 0);
}

const Gpu* gpu_at(const Inventory& inventory, GpuIndex index) {
  const auto found = std::find_if(inventory.gpus.begin(), inventory.gpus.end(),
                                  [&](const Gpu& gpu) { return gpu.index == index; });
  return found == inventory.gpus.end() ? nullptr : &*found;
}

}  // namespace

const Inventory& inventory_of(const Node& node) {
  return node.contact == Contact::never ? node.configured : node.inventory;
}

const std::vector<std::string>& features_of(const Node& node) {
  return inventory_of(node).features;
}

bool ClusterIndex::lifts_max_nodes(const JobSpec& spec) const {
  return !lifting_qos_.empty() &&
         std::binary_search(lifting_qos_.begin(), lifting_qos_.end(),
                            spec.qos.empty() ? kNormalQos : std::string_view(spec.qos),
                            std::less<>());
}

ClusterIndex::ClusterIndex(const ClusterState& state, const Networks* networks)
    : knows_networks_(networks != nullptr) {
  const auto types = types_of(state);
  gpu_types_.assign(types.begin(), types.end());
  restricts_cpus_ = any_restricts_cpus(state);
  limits_attempts_ = any_limits_attempts(state);
  counts_tmp_disk_ = any_counts_tmp_disk(state);
  if (any_counts_thousandths(state)) cpu_unit_ = kWholeCpu;
  state.partitions.for_each([&](const std::string& name, const Partition& partition) {
    if (partition.max_cpus_per_node)
      cpu_shares_.push_back(
          {name, *partition.max_cpus_per_node, {partition.nodes.begin(), partition.nodes.end()}});
  });
  nodes_.reserve(state.nodes.size());
  state.nodes.for_each([&](NodeId, const Node& node) {
    IndexedNode entry;
    read(state, node, entry);
    exclusive_nodes_ += entry.tenants.has_exclusive_user() ? 1 : 0;
    by_name_.emplace(node.name, static_cast<NodeIndex>(nodes_.size()));
    nodes_.push_back(std::move(entry));
  });
  by_user_ = exclusive_nodes_ > 0;
  state.accounting.for_each_from({RecordKind::qos, {}, {}, {}},
                                 [&](const RecordKey& key, const AccountingRecord& record) {
                                   if (key.kind != RecordKind::qos) return false;
                                   if (std::get<Qos>(record).has(QosFlag::partition_max_nodes))
                                     lifting_qos_.push_back(key.name);
                                   return true;
                                 });
  capacity_buckets_ = CapacityBuckets(nodes_.size(), stride());
  idle_ = Bitset(nodes_.size());
  sharing_ = Bitset(nodes_.size());
  restricted_ = Bitset(nodes_.size());
  for (NodeIndex at = 0; at < nodes_.size(); ++at) refresh_node(at);
  reservations_ = ReservationIndex(state, [this](const std::string& name) { return find(name); });
  if (!networks) return;
  const auto number_of = [this](const std::string& name) { return find(name); };
  for (const NetworkSpec& spec : networks->all()) {
    if (!spec.is_by_features()) {
      networks_.try_emplace(spec.name, spec, number_of);
      continue;
    }
    by_features_.push_back(spec);
    networks_.try_emplace(spec.name, described(spec), number_of);
  }
}

bool ClusterIndex::read(const ClusterState& state, const Node& node, IndexedNode& entry) {
  const JobKey* kept_for = state.kept_nodes.find(node.id);
  const Inventory& inventory = inventory_of(node);
  if (!entry.node || !inventory_of(*entry.node).gpu_topology.shares(inventory.gpu_topology))
    entry.machine = machines_.of(inventory.gpu_topology);
  if (!entry.node || !inventory_of(*entry.node).cpu_layout.shares(inventory.cpu_layout))
    entry.layout = layouts_.of(inventory.cpu_layout);
  if (!topology::restricts_cpus(inventory))
    entry.restricted.reset();
  else if (!entry.node || inventory_of(*entry.node) != inventory)
    entry.restricted = topology::restricted_cpus(inventory, machines_, layouts_);
  if (entry.restricted && !restricts_cpus_) return false;
  if (inventory.max_attempts && !limits_attempts_) return false;
  if (inventory.tmp_disk && !counts_tmp_disk_) return false;
  entry.counts_thousandths = inventory.cpu_thousandths > 0;
  if (entry.counts_thousandths && cpu_unit_ == 1) return false;
  entry.node = &node;
  const bool takes = takes_jobs(node);
  entry.usable = takes && !kept_for;
  entry.kept_for = takes && kept_for ? std::optional(*kept_for) : std::nullopt;
  entry.total.assign(stride(), 0);
  entry.total[kCpus] = cpus_of(inventory);
  entry.total[kMemory] = inventory.memory.value();
  for (const Gpu& gpu : inventory.gpus) {
    const auto column = gpu_column(gpu.type);
    if (!column) return false;
    ++entry.total[*column];
  }
  for (std::size_t i = 0; i < cpu_shares_.size(); ++i)
    if (cpu_shares_[i].nodes.contains(node.name))
      entry.total[gpu_end() + i] = std::min(cpu_unit_ * cpu_shares_[i].most, entry.total[kCpus]);
  if (const auto column = attempts_column())
    entry.total[*column] =
        inventory.max_attempts ? std::int64_t{*inventory.max_attempts} : kAnyNumber;
  if (const auto column = tmp_disk_column())
    entry.total[*column] = inventory.tmp_disk ? inventory.tmp_disk->value() >> 20 : kAnyMebibytes;
  if (const auto column = unrestricted_column())
    entry.total[*column] = unrestricted_total(entry, cpu_unit_);
  if (const auto column = exact_column()) entry.total[*column] = entry.counts_thousandths ? 1 : 0;
  entry.free = entry.total;
  entry.gpus_used.clear();
  entry.shared.clear();
  entry.tenants = {};
  entry.numbers = layouts_.numbers_of(entry.layout);
  if (entry.numbers && entry.numbers->count() < inventory.cpus) entry.numbers = nullptr;
  entry.cpus_used = Bitset(entry.numbers ? entry.numbers->size() : inventory.cpus);
  for (const Charge& charge : node.charges) {
    const std::int64_t cpus = cpus_of(charge);
    entry.free[kCpus] -= cpus;
    if (const auto share = cpu_share_column(state, charge)) entry.free[*share] -= cpus;
    if (const auto column = attempts_column()) --entry.free[*column];
    if (const auto column = tmp_disk_column())
      entry.free[*column] -= whole_mebibytes(charge.tmp_disk);
    entry.free[kMemory] -= charge.memory.value();
    entry.tenants.add(charge.user, charge.exclusive_user);
    for (const GpuIndex index : charge.gpus) {
      const Gpu* gpu = gpu_at(inventory, index);
      const std::size_t column = gpu ? *gpu_column(gpu->type) : 0;
      // Other jobs have parts of it as well.
      if (charge.gpu_part > 0 && gpu && !share_gpu(entry, index, column, charge.gpu_part)) continue;
      entry.gpus_used.push_back(index);
      if (gpu) --entry.free[column];
    }
    for (const std::uint32_t cpu : charge.cpu_ids)
      if (cpu < entry.cpus_used.size()) entry.cpus_used.set(cpu);
  }
  for (std::int64_t& amount : entry.free) amount = std::max<std::int64_t>(amount, 0);
  count_unrestricted(entry);
  std::sort(entry.gpus_used.begin(), entry.gpus_used.end());
  return true;
}

void ClusterIndex::count_unrestricted(IndexedNode& node) const {
  if (const auto column = unrestricted_column())
    node.free[*column] = unrestricted_free(node, node.total[*column], node.cpus_used,
                                           node.total[kCpus] - node.free[kCpus], cpu_unit_);
}

void ClusterIndex::refresh_node(NodeIndex at) {
  IndexedNode& node = nodes_[at];
  if (++node.stamp == 0) node.stamp = 1;
  changes_.add(at);
  capacity_buckets_.set(at, node.free);
  if (node.free[kCpus] == node.total[kCpus])
    idle_.set(at);
  else
    idle_.reset(at);
  if (std::any_of(node.shared.begin(), node.shared.end(),
                  [](const SharedGpu& gpu) { return gpu.used < kWholeGpu; }))
    sharing_.set(at);
  else
    sharing_.reset(at);
  if (node.tenants.excludes_others())
    restricted_.set(at);
  else
    restricted_.reset(at);
}

bool ClusterIndex::update(const ClusterState& before, const ClusterState& after,
                          std::span<const NodeIndex> allocated) {
  bool possible = true, other_totals = false, other_restrictions = false, other_limits = false,
       other_places = false, other_storage = false, other_units = false;
  gains_.trim(kMaxGains);
  changes_.trim(kMaxChanges);
  const auto reread = [&](IndexedNode& entry, const Node& node) {
    const bool was_usable = entry.usable;
    const std::optional<JobKey> was_kept_for = entry.kept_for;
    const Amounts was_total = entry.total, was_free = entry.free;
    const auto* was_machine = entry.machine;
    const auto* was_layout = entry.layout;
    const NodeTenants were = entry.tenants;
    const auto were_shared = entry.shared;
    // Pointers are compared and followed only into `before` and `after`, which are both alive.
    const bool same_features = features_of(*entry.node) == features_of(node);
    if (!same_features)
      for (const NetworkSpec& network : by_features_)
        other_places = other_places || leaf_by_features(network, features_of(*entry.node)) !=
                                           leaf_by_features(network, features_of(node));
    // Plugins get more data about GPUs than the totals show.
    const bool other_gpus =
        plugin_classes_ && inventory_of(*entry.node).gpus != inventory_of(node).gpus;
    if (topology::restricts_cpus(inventory_of(*entry.node)) !=
        topology::restricts_cpus(inventory_of(node)))
      other_restrictions = true;
    if (inventory_of(*entry.node).max_attempts.has_value() !=
        inventory_of(node).max_attempts.has_value())
      other_limits = true;
    if (inventory_of(*entry.node).tmp_disk.has_value() != inventory_of(node).tmp_disk.has_value())
      other_storage = true;
    if (entry.counts_thousandths != (inventory_of(node).cpu_thousandths > 0)) other_units = true;
    exclusive_nodes_ -= entry.tenants.has_exclusive_user() ? 1 : 0;
    possible = possible && read(after, node, entry);
    exclusive_nodes_ += entry.tenants.has_exclusive_user() ? 1 : 0;
    if (!possible) return;
    const auto at = static_cast<NodeIndex>(&entry - nodes_.data());
    refresh_node(at);
    if (entry.tenants != were || entry.shared != were_shared ||
        !std::equal(entry.free.begin(), entry.free.end(), was_free.begin(), was_free.end(),
                    std::less_equal<>()))
      gains_.add(at);
    other_totals = other_totals || was_total != entry.total;
    if (was_layout != entry.layout) threads_per_core_.clear();
    if (was_usable != entry.usable || was_kept_for != entry.kept_for || was_total != entry.total ||
        was_machine != entry.machine || was_layout != entry.layout || !same_features || other_gpus)
      ++generation_;
  };
  CowMap<NodeId, Node>::diff(before.nodes, after.nodes,
                             [&](const NodeId& id, const Node* was, const Node* is) {
                               const auto at = find(id);
                               if (!was || !is || !at || was->name != is->name)
                                 possible = false;
                               else
                                 reread(nodes_[*at], *is);
                             });
  if (!possible) return false;
  CowMap<NodeId, JobKey>::diff(before.kept_nodes, after.kept_nodes,
                               [&](NodeId id, const JobKey*, const JobKey*) {
                                 // Its record may have changed as well, and moved.
                                 const Node* node = after.nodes.find(id);
                                 const auto at = find(id);
                                 if (node && at) reread(nodes_[*at], *node);
                               });
  for (const NodeIndex at : allocated) reread(nodes_[at], *nodes_[at].node);
  if (other_places) return false;
  if (other_restrictions && any_restricts_cpus(after) != restricts_cpus_) return false;
  if (other_limits && any_limits_attempts(after) != limits_attempts_) return false;
  if (other_storage && any_counts_tmp_disk(after) != counts_tmp_disk_) return false;
  if (other_units && any_counts_thousandths(after) != (cpu_unit_ > 1)) return false;
  // A type that no node has any more must not have a column.
  if (other_totals)
    if (const auto types = types_of(after);
        !std::equal(types.begin(), types.end(), gpu_types_.begin(), gpu_types_.end()))
      return false;
  return possible && by_user_ == (exclusive_nodes_ > 0);
}

std::optional<std::size_t> ClusterIndex::gpu_column(std::string_view type) const {
  const auto found = std::lower_bound(gpu_types_.begin(), gpu_types_.end(), type);
  if (found == gpu_types_.end() || *found != type) return std::nullopt;
  return kFirstGpu + static_cast<std::size_t>(found - gpu_types_.begin());
}

std::optional<std::size_t> ClusterIndex::cpu_share_column(std::string_view partition) const {
  for (std::size_t i = 0; i < cpu_shares_.size(); ++i)
    if (cpu_shares_[i].partition == partition) return gpu_end() + i;
  return std::nullopt;
}

std::optional<std::size_t> ClusterIndex::cpu_share_column(const ClusterState& state,
                                                          const Charge& charge) const {
  if (cpu_shares_.empty()) return std::nullopt;
  const Job* job = state.jobs.find(charge.attempt.job);
  if (!job || job->attempt != charge.attempt.attempt || !job->allocation) return std::nullopt;
  return cpu_share_column(job->allocation->partition);
}

std::optional<NodeIndex> ClusterIndex::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

std::optional<NodeIndex> ClusterIndex::find(NodeId id) const {
  const auto found = std::lower_bound(
      nodes_.begin(), nodes_.end(), id,
      [](const IndexedNode& node, NodeId wanted) { return node.node->id < wanted; });
  if (found == nodes_.end() || found->node->id != id) return std::nullopt;
  return static_cast<NodeIndex>(found - nodes_.begin());
}

const topology::Network* ClusterIndex::network(const std::string& name) const {
  const auto found = networks_.find(name);
  return found == networks_.end() ? nullptr : &found->second;
}

NetworkSpec ClusterIndex::described(const NetworkSpec& network) const {
  std::vector<NetworkNode> nodes;
  nodes.reserve(nodes_.size());
  for (const IndexedNode& node : nodes_)
    nodes.push_back({node.node->name, features_of(*node.node)});
  return network_of_nodes(network, nodes);
}

std::uint32_t ClusterIndex::threads_per_core(const Partition& partition) const {
  const auto [entry, added] = threads_per_core_.try_emplace(partition.name, 1);
  if (!added) return entry->second;
  for (const std::string& name : partition.nodes)
    if (const auto at = find(name); at && nodes_[*at].layout)
      entry->second = std::max(entry->second,
                               static_cast<std::uint32_t>(nodes_[*at].layout->threads_per_core()));
  return entry->second;
}

const std::vector<NodeIndex>& ClusterIndex::members(const Partition& partition) {
  const auto [entry, added] = members_.try_emplace(partition.name);
  if (added) {
    for (const std::string& name : partition.nodes)
      if (const auto node = find(name)) entry->second.push_back(*node);
    std::sort(entry->second.begin(), entry->second.end());
    entry->second.erase(std::unique(entry->second.begin(), entry->second.end()),
                        entry->second.end());
  }
  return entry->second;
}

}  // namespace ares::core::sched
