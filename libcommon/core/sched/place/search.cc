#include "core/sched/place/search.h"

#include <algorithm>

#include "core/sched/place/nodes_with_capacity.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/place/shared_gpus.h"
#include "core/sched/place/shortlist.h"

namespace ares::core::sched {
namespace {

// The fewest CPUs with which any job of the demand can run.
std::int64_t fewest_cpus(const Demand& demand) {
  const std::int64_t of_tasks = demand.overcommit
                                    ? std::int64_t{demand.min_nodes}
                                    : std::int64_t{demand.tasks} * fewest_cpus_per_task(demand);
  return std::max(of_tasks, std::int64_t{demand.min_nodes} * demand.min_cpus_per_node);
}

// The nodes of the set that matter for a start now; stored in `list`.
NodeSet shortlisted_now(const Demand& demand, NodeSet set, const ClusterIndex& index,
                        std::vector<NodeIndex>& list) {
  const Bitset nodes = nodes_with_capacity(demand, *set.bits, index);
  Shortlist shortlist(demand, nodes.count());
  nodes.for_each([&](std::size_t at) {
    const auto node = static_cast<NodeIndex>(at);
    if (index.admits(node, demand.access))
      shortlist.add(node, index.capacity_buckets().free(node), index.nodes()[node].total);
  });
  list = shortlist.best();
  return {list, {}};
}

// Rows for nodes with shared devices that a part of a GPU can join: the raised free amounts, and
// the free parts of these devices.
class JoinRows {
 public:
  explicit JoinRows(std::size_t nodes) { rows_.reserve(nodes); }
  void raise(const Demand& demand, const IndexedNode& node, NodeOffer& offer) {
    if (node.shared.empty()) return;
    const std::size_t stride = offer.free.size();
    Amounts& row = rows_.emplace_back(offer.free.begin(), offer.free.end());
    row.resize(2 * stride, 0);
    const auto free = std::span(row).first(stride), left = std::span(row).last(stride);
    add_joinable(demand, node, free, left, [](const SharedGpu&) { return true; });
    offer.free = free;
    offer.left = left;
  }

 private:
  std::vector<Amounts> rows_;
};

constexpr auto kAnyDevice = [](NodeIndex, const SharedGpu&) { return true; };

}  // namespace

bool is_required(NodeSet set, NodeIndex node) {
  return std::binary_search(set.required.begin(), set.required.end(), node);
}

bool has_required(std::span<const NodeOffer> offers, NodeSet set) {
  const auto required = std::count_if(offers.begin(), offers.end(),
                                      [](const NodeOffer& offer) { return offer.required; });
  return static_cast<std::size_t>(required) == set.required.size();
}

NodeSet with_capacity_now(const Demand& demand, NodeSet set, const ClusterIndex& index,
                          std::vector<NodeIndex>& list) {
  if (!set.bits) return set;
  nodes_with_capacity(demand, *set.bits, index).for_each([&](std::size_t at) {
    list.push_back(static_cast<NodeIndex>(at));
  });
  return {list, set.required};
}

NodeSet without_refused(const Demand& demand, NodeSet set, GpusOf state, const ClusterIndex& index,
                        std::vector<NodeIndex>& list) {
  if (!demand.plugin_class) return set;
  demand.plugin_class->filter(set.nodes, state, index, list);
  return {list, set.required};
}

std::int64_t plugin_score_of(const Demand& demand, NodeIndex node, GpusOf state) {
  return demand.plugin_class ? demand.plugin_class->score(node, state) : 0;
}

std::optional<Placement> fit_on(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                CapacityBasis basis, SearchBudget& work) {
  work.spend(set.nodes.size());
  std::vector<NodeIndex> list;
  if (basis == CapacityBasis::free_now)
    set = set.bits && set.required.empty() && Shortlist::suits(demand) &&
                  !SingleNodeFit::suits(demand)
              ? shortlisted_now(demand, set, index, list)
              : with_capacity_now(demand, set, index, list);
  const GpusOf which = basis == CapacityBasis::totals ? GpusOf::node : GpusOf::free_now;
  std::vector<NodeIndex> allowed;
  set = without_refused(demand, set, which, index, allowed);
  if (set.nodes.size() < demand.min_nodes) return std::nullopt;
  const auto admits = [&](const IndexedNode& node) {
    return basis == CapacityBasis::totals || node.tenants.admits(demand.access);
  };
  const auto free_of = [&](const IndexedNode& node) -> const Amounts& {
    return basis == CapacityBasis::totals ? node.total : node.free;
  };
  const bool joins = demand.gpu_part > 0 && basis == CapacityBasis::free_now;
  const bool rests = looks_at_take(demand.strategy) && basis == CapacityBasis::free_now;
  JoinRows join_rows(joins ? set.nodes.size() : 0);
  if (set.required.empty() && SingleNodeFit::suits(demand)) {
    SingleNodeFit one(demand, index.stride());
    for (const NodeIndex at : set.nodes) {
      if (!joins && basis == CapacityBasis::free_now &&
          one.is_no_better(index.capacity_buckets().free(at)))
        continue;
      const IndexedNode& node = index.nodes()[at];
      if (!admits(node)) continue;
      NodeOffer offer{at, free_of(node), node.total, false, plugin_score_of(demand, at, which)};
      if (rests) offer.shared = node.shared;
      if (joins) join_rows.raise(demand, node, offer);
      one.add(offer);
    }
    auto placement = one.placement();
    if (joins && placement) name_devices(index, *placement, kAnyDevice);
    return placement;
  }
  std::int64_t cpus = 0;
  for (const NodeIndex at : set.nodes) cpus += free_of(index.nodes()[at])[kCpus];
  if (cpus < fewest_cpus(demand)) return std::nullopt;
  const bool capped = !demand.gpu_constraint.none();
  // Rows of nodes whose GPUs cannot all be had together.
  std::vector<Amounts> rows;
  rows.reserve(capped ? set.nodes.size() : 0);
  std::vector<NodeOffer> offers;
  offers.reserve(set.nodes.size());
  for (const NodeIndex at : set.nodes) {
    const IndexedNode& node = index.nodes()[at];
    if (free_of(node)[kCpus] <= 0 || !admits(node)) continue;
    std::span<const std::int64_t> free = free_of(node);
    if (capped) {
      cap_gpus(demand, node, which, index, rows.emplace_back(free_of(node)));
      free = rows.back();
    }
    offers.push_back(
        {at, free, node.total, is_required(set, at), plugin_score_of(demand, at, which)});
    if (rests) offers.back().shared = node.shared;
    if (joins) join_rows.raise(demand, node, offers.back());
  }
  if (!has_required(offers, set)) return std::nullopt;
  auto placement = fit(demand, offers);
  if (joins && placement) name_devices(index, *placement, kAnyDevice);
  return placement;
}

bool fits_empty(const Demand& demand, NodeSet set, const ClusterIndex& index) {
  if (set.required.empty() && !demand.plugin_class && SingleNodeFit::suits(demand)) {
    SingleNodeFit one(demand, index.stride());
    return std::any_of(set.nodes.begin(), set.nodes.end(), [&](NodeIndex at) {
      const Amounts& total = index.nodes()[at].total;
      return one.fits({at, total, total, false});
    });
  }
  if (demand.wants_any_gpu() || !demand.gpus_total.empty() || demand.tags || demand.limited() ||
      demand.unknown_gpu_type || !set.required.empty() || !demand.node_counts.empty() ||
      demand.plugin_class)
    return false;
  const TypedDemand typed(demand, std::nullopt);
  const std::uint32_t even = (demand.tasks + demand.min_nodes - 1) / demand.min_nodes;
  std::uint32_t nodes = 0;
  for (const NodeIndex at : set.nodes) {
    const Amounts& total = index.nodes()[at].total;
    const NodeOffer offer{at, total, total, false};
    if (task_capacity(demand, typed.per_node, offer, typed.per_task) < even) continue;
    if (++nodes == demand.min_nodes) return true;
  }
  return false;
}

bool affected_by_reservations(const Demand& demand, NodeSet set, const ClusterIndex& index) {
  if (!demand.access.reservations.empty()) return true;
  const ReservationIndex& all = index.reservations();
  return !all.empty() && std::any_of(set.nodes.begin(), set.nodes.end(),
                                     [&](NodeIndex node) { return all.any(node); });
}

bool affected_by_reservations(const Demand& demand, const Placement& placement,
                              const ClusterIndex& index) {
  if (!demand.access.reservations.empty()) return true;
  const ReservationIndex& all = index.reservations();
  return !all.empty() && std::any_of(placement.begin(), placement.end(),
                                     [&](const PlacedShare& share) { return all.any(share.node); });
}

}  // namespace ares::core::sched
