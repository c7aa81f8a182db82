// Search of a set of nodes for free capacity: on empty nodes, or on what is free now. For what
// stays free later see time/backfill.h. Pure; works on the index of one pass.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bitset.h"
#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/fit.h"

namespace ares::core::sched {

// Remaining work of a pass. One unit is one node tested for one job.
class SearchBudget {
 public:
  explicit SearchBudget(std::uint64_t units) : left_(units) {}
  static SearchBudget unbounded() { return SearchBudget(~std::uint64_t{0}); }
  bool exhausted() const { return left_ == 0; }
  std::uint64_t left() const { return left_; }
  void spend(std::uint64_t units) { left_ = units > left_ ? 0 : left_ - units; }

 private:
  std::uint64_t left_;
};

// Nodes that a demand may use, both lists ascending; every required node is also in `nodes`.
struct NodeSet {
  std::span<const NodeIndex> nodes;
  std::span<const NodeIndex> required{};
  // The same nodes as bits. May be null; only searches of what is free now profit from it.
  const Bitset* bits = nullptr;
};

enum class CapacityBasis : std::uint8_t { totals, free_now };

// Searches empty nodes, or what is free now, ignoring planned starts. A part of a GPU is then on
// the fullest shared device of the node that has enough left.
std::optional<Placement> fit_on(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                CapacityBasis basis, SearchBudget& work);

// True if the demand certainly fits on empty nodes; if false, only fit_on() can decide. Reads no
// more nodes than are needed.
bool fits_empty(const Demand& demand, NodeSet set, const ClusterIndex& index);

// Whether the beginnings and ends of reservations affect where the demand fits.
bool affected_by_reservations(const Demand& demand, NodeSet set, const ClusterIndex& index);
bool affected_by_reservations(const Demand& demand, const Placement& placement,
                              const ClusterIndex& index);

// Shared by searches of the current time and of later times.
bool is_required(NodeSet set, NodeIndex node);
bool has_required(std::span<const NodeOffer> offers, NodeSet set);
// The nodes of the set that may have capacity now; stored in `list`.
NodeSet with_capacity_now(const Demand& demand, NodeSet set, const ClusterIndex& index,
                          std::vector<NodeIndex>& list);
// The nodes of the set that no plugin refuses; stored in `list`.
NodeSet without_refused(const Demand& demand, NodeSet set, GpusOf state, const ClusterIndex& index,
                        std::vector<NodeIndex>& list);
std::int64_t plugin_score_of(const Demand& demand, NodeIndex node, GpusOf state);

}  // namespace ares::core::sched
